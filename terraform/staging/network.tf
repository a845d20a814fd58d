# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

data "aws_route53_zone" "dns_zone" {
  name = "example.com"
}

# All that the Talos API is reached through: there before machines join, and until they have left.
resource "terraform_data" "reachable" {
  depends_on = [
    aws_route.public_default,
    aws_route_table_association.public_1_association,
    aws_route_table_association.public_2_association,
    aws_route_table_association.public_3_association,
    aws_route.private_1_routes_default,
    aws_route_table_association.private_1_association,
    aws_route_table_association.private_2_association,
    aws_route_table_association.private_3_association,
    aws_vpc_security_group_ingress_rule.allow_control_plane_kubernetes_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_kubernetes_from_worker,
    aws_vpc_security_group_ingress_rule.allow_control_plane_kubernetes_from_load_balancer,
    aws_vpc_security_group_ingress_rule.allow_control_plane_talos_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_worker_talos_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_trustd_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_trustd_from_worker,
    aws_vpc_security_group_ingress_rule.allow_control_plane_etcd_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_kubelet_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_kubelet_from_worker,
    aws_vpc_security_group_ingress_rule.allow_worker_kubelet_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_worker_kubelet_from_worker,
    aws_vpc_security_group_ingress_rule.allow_control_plane_flannel_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_control_plane_flannel_from_worker,
    aws_vpc_security_group_ingress_rule.allow_worker_flannel_from_control_plane,
    aws_vpc_security_group_ingress_rule.allow_worker_flannel_from_worker,
    aws_vpc_security_group_ingress_rule.allow_control_plane_talos_from_load_balancer,
    aws_vpc_security_group_egress_rule.allow_control_plane_vpc_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_https_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_ntp_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_kubernetes_out,
    aws_vpc_security_group_egress_rule.allow_worker_vpc_out,
    aws_vpc_security_group_egress_rule.allow_worker_https_out,
    aws_vpc_security_group_egress_rule.allow_worker_ntp_out,
    aws_vpc_security_group_egress_rule.allow_worker_kubernetes_out,
    aws_vpc_security_group_egress_rule.allow_load_balancer_6443_out,
    aws_vpc_security_group_egress_rule.allow_load_balancer_50000_out,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_kubernetes_nat_1,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_kubernetes_admin_1,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_talos_admin_1,
    aws_lb_listener.api_kubernetes_listener,
    aws_lb_listener.api_talos_listener,
    aws_route53_record.dns,
  ]
}

resource "aws_vpc" "vpc" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = { Name = "staging" }
}

# Closed: nothing uses it.
resource "aws_default_security_group" "default" {
  tags   = { Name = "staging-unused" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_internet_gateway" "gateway" {
  tags   = { Name = "staging" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_subnet" "private_1" {
  availability_zone       = "eu-central-1a"
  cidr_block              = "10.0.32.0/19"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                              = "staging-private-1"
    "kubernetes.io/cluster/staging"   = "shared"
    "kubernetes.io/role/internal-elb" = "1"
  }
}

resource "aws_subnet" "private_2" {
  availability_zone       = "eu-central-1b"
  cidr_block              = "10.0.64.0/19"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                              = "staging-private-2"
    "kubernetes.io/cluster/staging"   = "shared"
    "kubernetes.io/role/internal-elb" = "1"
  }
}

resource "aws_subnet" "private_3" {
  availability_zone       = "eu-central-1c"
  cidr_block              = "10.0.96.0/19"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                              = "staging-private-3"
    "kubernetes.io/cluster/staging"   = "shared"
    "kubernetes.io/role/internal-elb" = "1"
  }
}

resource "aws_subnet" "public_1" {
  availability_zone       = "eu-central-1a"
  cidr_block              = "10.0.0.0/22"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                            = "staging-public-1"
    "kubernetes.io/cluster/staging" = "shared"
    "kubernetes.io/role/elb"        = "1"
  }
}

resource "aws_subnet" "public_2" {
  availability_zone       = "eu-central-1b"
  cidr_block              = "10.0.4.0/22"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                            = "staging-public-2"
    "kubernetes.io/cluster/staging" = "shared"
    "kubernetes.io/role/elb"        = "1"
  }
}

resource "aws_subnet" "public_3" {
  availability_zone       = "eu-central-1c"
  cidr_block              = "10.0.8.0/22"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                            = "staging-public-3"
    "kubernetes.io/cluster/staging" = "shared"
    "kubernetes.io/role/elb"        = "1"
  }
}

resource "aws_eip" "nat_1_address" {
  domain = "vpc"
  tags   = { Name = "staging-nat-1" }
}

# The way to S3, which costs nothing.
resource "aws_vpc_endpoint" "s3" {
  route_table_ids   = [aws_route_table.public.id, aws_route_table.private_1_routes.id]
  service_name      = "com.amazonaws.eu-central-1.s3"
  tags              = { Name = "staging-s3" }
  vpc_endpoint_type = "Gateway"
  vpc_id            = aws_vpc.vpc.id
}

resource "aws_nat_gateway" "nat_1" {
  allocation_id = aws_eip.nat_1_address.id
  subnet_id     = aws_subnet.public_1.id
  tags          = { Name = "staging-nat-1" }

  depends_on = [aws_internet_gateway.gateway]
}

resource "aws_route_table" "private_1_routes" {
  tags   = { Name = "staging-private-1" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_route_table" "public" {
  tags   = { Name = "staging-public-1" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_route" "private_1_routes_default" {
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.nat_1.id
  route_table_id         = aws_route_table.private_1_routes.id
}

resource "aws_route" "public_default" {
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.gateway.id
  route_table_id         = aws_route_table.public.id
}

resource "aws_route_table_association" "private_1_association" {
  route_table_id = aws_route_table.private_1_routes.id
  subnet_id      = aws_subnet.private_1.id
}

resource "aws_route_table_association" "private_2_association" {
  route_table_id = aws_route_table.private_1_routes.id
  subnet_id      = aws_subnet.private_2.id
}

resource "aws_route_table_association" "private_3_association" {
  route_table_id = aws_route_table.private_1_routes.id
  subnet_id      = aws_subnet.private_3.id
}

resource "aws_route_table_association" "public_1_association" {
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public_1.id
}

resource "aws_route_table_association" "public_2_association" {
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public_2.id
}

resource "aws_route_table_association" "public_3_association" {
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public_3.id
}

resource "aws_security_group" "allow_control_plane" {
  name        = "staging-control-plane"
  description = "Control planes of staging"
  tags        = { Name = "staging-control-plane", "kubernetes.io/cluster/staging" = "owned" }
  vpc_id      = aws_vpc.vpc.id
}

resource "aws_security_group" "allow_load_balancer" {
  name        = "staging-load-balancer"
  description = "Load balancer of staging"
  tags        = { Name = "staging-load-balancer" }
  vpc_id      = aws_vpc.vpc.id
}

resource "aws_security_group" "allow_worker" {
  name        = "staging-worker"
  description = "Workers of staging"
  tags        = { Name = "staging-worker", "kubernetes.io/cluster/staging" = "owned" }
  vpc_id      = aws_vpc.vpc.id
}

# Who may reach whom; nothing else is open.
resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_etcd_from_control_plane" {
  description                  = "etcd clients and peers, from control planes"
  from_port                    = 2379
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 2380
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_flannel_from_control_plane" {
  description                  = "flannel VXLAN, from control planes"
  from_port                    = 4789
  ip_protocol                  = "udp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 4789
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_flannel_from_worker" {
  description                  = "flannel VXLAN, from workers"
  from_port                    = 4789
  ip_protocol                  = "udp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 4789
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_kubelet_from_control_plane" {
  description                  = "kubelet API and metrics, from control planes"
  from_port                    = 10250
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 10250
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_kubelet_from_worker" {
  description                  = "kubelet API and metrics, from workers"
  from_port                    = 10250
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 10250
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_kubernetes_from_control_plane" {
  description                  = "Kubernetes API, from control planes"
  from_port                    = 6443
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 6443
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_kubernetes_from_load_balancer" {
  description                  = "Kubernetes API, from the load balancer"
  from_port                    = 6443
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_load_balancer.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 6443
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_kubernetes_from_worker" {
  description                  = "Kubernetes API, from workers"
  from_port                    = 6443
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 6443
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_talos_from_control_plane" {
  description                  = "Talos API, passed on by control planes, from control planes"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 50000
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_talos_from_load_balancer" {
  description                  = "Talos API, from the load balancer"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_load_balancer.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 50000
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_trustd_from_control_plane" {
  description                  = "Talos certificates, from control planes"
  from_port                    = 50001
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 50001
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_trustd_from_worker" {
  description                  = "Talos certificates, from workers"
  from_port                    = 50001
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_control_plane.id
  to_port                      = 50001
}

resource "aws_vpc_security_group_ingress_rule" "allow_load_balancer_kubernetes_admin_1" {
  cidr_ipv4         = "203.0.113.0/24"
  description       = "Kubernetes API, from administrators"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_load_balancer.id
  to_port           = 6443
}

resource "aws_vpc_security_group_ingress_rule" "allow_load_balancer_kubernetes_nat_1" {
  cidr_ipv4         = "${aws_eip.nat_1_address.public_ip}/32"
  description       = "Kubernetes API, from machines through NAT"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_load_balancer.id
  to_port           = 6443
}

resource "aws_vpc_security_group_ingress_rule" "allow_load_balancer_talos_admin_1" {
  cidr_ipv4         = "203.0.113.0/24"
  description       = "Talos API, from administrators"
  from_port         = 50000
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_load_balancer.id
  to_port           = 50000
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_flannel_from_control_plane" {
  description                  = "flannel VXLAN, from control planes"
  from_port                    = 4789
  ip_protocol                  = "udp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 4789
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_flannel_from_worker" {
  description                  = "flannel VXLAN, from workers"
  from_port                    = 4789
  ip_protocol                  = "udp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 4789
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_kubelet_from_control_plane" {
  description                  = "kubelet API and metrics, from control planes"
  from_port                    = 10250
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 10250
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_kubelet_from_worker" {
  description                  = "kubelet API and metrics, from workers"
  from_port                    = 10250
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_worker.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 10250
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_talos_from_control_plane" {
  description                  = "Talos API, passed on by control planes, from control planes"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 50000
}

resource "aws_vpc_security_group_egress_rule" "allow_control_plane_https_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Images, factory, discovery"
  from_port         = 443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_control_plane.id
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "allow_control_plane_kubernetes_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Kubernetes API by its public name"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_control_plane.id
  to_port           = 6443
}

resource "aws_vpc_security_group_egress_rule" "allow_control_plane_ntp_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Time"
  from_port         = 123
  ip_protocol       = "udp"
  security_group_id = aws_security_group.allow_control_plane.id
  to_port           = 123
}

resource "aws_vpc_security_group_egress_rule" "allow_control_plane_vpc_out" {
  cidr_ipv4         = "10.0.0.0/16"
  description       = "Everything inside the network"
  ip_protocol       = "-1"
  security_group_id = aws_security_group.allow_control_plane.id
}

resource "aws_vpc_security_group_egress_rule" "allow_load_balancer_6443_out" {
  description                  = "Port 6443 of the control planes"
  from_port                    = 6443
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_load_balancer.id
  to_port                      = 6443
}

resource "aws_vpc_security_group_egress_rule" "allow_load_balancer_50000_out" {
  description                  = "Port 50000 of the control planes"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_load_balancer.id
  to_port                      = 50000
}

resource "aws_vpc_security_group_egress_rule" "allow_worker_https_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Images, factory, discovery"
  from_port         = 443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_worker.id
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "allow_worker_kubernetes_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Kubernetes API by its public name"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_worker.id
  to_port           = 6443
}

resource "aws_vpc_security_group_egress_rule" "allow_worker_ntp_out" {
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Time"
  from_port         = 123
  ip_protocol       = "udp"
  security_group_id = aws_security_group.allow_worker.id
  to_port           = 123
}

resource "aws_vpc_security_group_egress_rule" "allow_worker_vpc_out" {
  cidr_ipv4         = "10.0.0.0/16"
  description       = "Everything inside the network"
  ip_protocol       = "-1"
  security_group_id = aws_security_group.allow_worker.id
}

# The Kubernetes API.
resource "aws_lb" "api" {
  name                             = "staging-api"
  enable_cross_zone_load_balancing = true
  enable_deletion_protection       = false
  internal                         = false
  load_balancer_type               = "network"
  security_groups                  = [aws_security_group.allow_load_balancer.id]
  subnets                          = [aws_subnet.public_1.id, aws_subnet.public_2.id, aws_subnet.public_3.id]
  tags                             = { Name = "staging-api" }
}

resource "aws_lb_target_group" "api_kubernetes" {
  name                 = "staging-k8s"
  deregistration_delay = "30"
  port                 = 6443
  preserve_client_ip   = "false"
  protocol             = "TCP"
  tags                 = { Name = "staging-kubernetes" }
  target_type          = "instance"
  vpc_id               = aws_vpc.vpc.id

  health_check {
    interval = 10
    port     = "6443"
    protocol = "TCP"
  }
}

resource "aws_lb_target_group" "api_talos" {
  name                 = "staging-talos"
  deregistration_delay = "30"
  port                 = 50000
  preserve_client_ip   = "false"
  protocol             = "TCP"
  tags                 = { Name = "staging-talos" }
  target_type          = "instance"
  vpc_id               = aws_vpc.vpc.id

  health_check {
    interval = 10
    port     = "50000"
    protocol = "TCP"
  }
}

resource "aws_lb_target_group_attachment" "control_plane_kubernetes_target" {
  for_each = local.control_plane

  port             = 6443
  target_group_arn = aws_lb_target_group.api_kubernetes.arn
  target_id        = aws_instance.control_plane[each.key].id
}

resource "aws_lb_target_group_attachment" "control_plane_talos_target" {
  for_each = local.control_plane

  port             = 50000
  target_group_arn = aws_lb_target_group.api_talos.arn
  target_id        = aws_instance.control_plane[each.key].id
}

resource "aws_lb_listener" "api_kubernetes_listener" {
  load_balancer_arn = aws_lb.api.arn
  port              = 6443
  protocol          = "TCP"
  tags              = { Name = "staging-kubernetes" }

  default_action {
    target_group_arn = aws_lb_target_group.api_kubernetes.arn
    type             = "forward"
  }
}

resource "aws_lb_listener" "api_talos_listener" {
  load_balancer_arn = aws_lb.api.arn
  port              = 50000
  protocol          = "TCP"
  tags              = { Name = "staging-talos" }

  default_action {
    target_group_arn = aws_lb_target_group.api_talos.arn
    type             = "forward"
  }
}

resource "aws_route53_record" "dns" {
  name    = "k8s.staging.example.com"
  type    = "A"
  zone_id = data.aws_route53_zone.dns_zone.zone_id

  alias {
    name                   = aws_lb.api.dns_name
    evaluate_target_health = true
    zone_id                = aws_lb.api.zone_id
  }
}

resource "aws_flow_log" "flow_logs" {
  iam_role_arn    = aws_iam_role.flow_logs_role.arn
  log_destination = aws_cloudwatch_log_group.flow_logs_group.arn
  tags            = { Name = "staging-flow-logs" }
  traffic_type    = "ALL"
  vpc_id          = aws_vpc.vpc.id
}

resource "aws_cloudwatch_log_group" "flow_logs_group" {
  name              = "/talosmith/staging/flow-logs"
  kms_key_id        = aws_kms_key.key.arn
  retention_in_days = 365
  tags              = { Name = "staging-flow-logs" }
}
