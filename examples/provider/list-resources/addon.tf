# In a file that ends with .tfquery.hcl: terraform query -generate-config-out=found.tf
list "talosmith_addon" "example" {
  provider = talosmith

  config {
    endpoints = ["10.0.0.70"]
  }
}
