# In a file that ends with .tfquery.hcl: terraform query -generate-config-out=found.tf
list "talosmith_etcd_snapshot" "example" {
  provider = talosmith

  config {
    cluster_name = "demo"
    directory    = "backups/demo"
  }
}
