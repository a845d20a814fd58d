# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
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
    aws_vpc_security_group_egress_rule.allow_control_plane_vpc_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_https_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_ntp_out,
    aws_vpc_security_group_egress_rule.allow_control_plane_kubernetes_out,
    aws_vpc_security_group_egress_rule.allow_worker_vpc_out,
    aws_vpc_security_group_egress_rule.allow_worker_https_out,
    aws_vpc_security_group_egress_rule.allow_worker_ntp_out,
    aws_vpc_security_group_egress_rule.allow_worker_kubernetes_out,
    aws_vpc_security_group_egress_rule.allow_load_balancer_6443_out,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_kubernetes_admin_1,
    aws_vpc_security_group_ingress_rule.allow_control_plane_talos_admin_1,
    aws_vpc_security_group_ingress_rule.allow_worker_talos_admin_1,
    aws_lb_listener.api_kubernetes_listener,
    aws_route53_record.dns,
  ]
}

resource "aws_vpc" "vpc" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
  enable_dns_support   = true
  tags                 = { Name = "sandbox" }
}

# Closed: nothing uses it.
resource "aws_default_security_group" "default" {
  tags   = { Name = "sandbox-unused" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_internet_gateway" "gateway" {
  tags   = { Name = "sandbox" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_subnet" "public_1" {
  availability_zone       = "eu-central-1a"
  cidr_block              = "10.0.0.0/22"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                            = "sandbox-public-1"
    "kubernetes.io/cluster/sandbox" = "shared"
    "kubernetes.io/role/elb"        = "1"
  }
}

resource "aws_subnet" "public_2" {
  availability_zone       = "eu-central-1b"
  cidr_block              = "10.0.4.0/22"
  map_public_ip_on_launch = false
  vpc_id                  = aws_vpc.vpc.id
  tags = {
    Name                            = "sandbox-public-2"
    "kubernetes.io/cluster/sandbox" = "shared"
    "kubernetes.io/role/elb"        = "1"
  }
}

resource "aws_eip" "control_plane_address" {
  for_each = local.control_plane

  domain   = "vpc"
  instance = aws_instance.control_plane[each.key].id
  tags     = { Name = "sandbox-${each.key}" }
}

# The way to S3, which costs nothing.
resource "aws_vpc_endpoint" "s3" {
  route_table_ids   = [aws_route_table.public.id]
  service_name      = "com.amazonaws.eu-central-1.s3"
  tags              = { Name = "sandbox-s3" }
  vpc_endpoint_type = "Gateway"
  vpc_id            = aws_vpc.vpc.id
}

resource "aws_route_table" "public" {
  tags   = { Name = "sandbox-public-1" }
  vpc_id = aws_vpc.vpc.id
}

resource "aws_route" "public_default" {
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.gateway.id
  route_table_id         = aws_route_table.public.id
}

resource "aws_route_table_association" "public_1_association" {
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public_1.id
}

resource "aws_route_table_association" "public_2_association" {
  route_table_id = aws_route_table.public.id
  subnet_id      = aws_subnet.public_2.id
}

resource "aws_security_group" "allow_control_plane" {
  name        = "sandbox-control-plane"
  description = "Control planes of sandbox"
  tags        = { Name = "sandbox-control-plane", "kubernetes.io/cluster/sandbox" = "owned" }
  vpc_id      = aws_vpc.vpc.id
}

resource "aws_security_group" "allow_load_balancer" {
  name        = "sandbox-load-balancer"
  description = "Load balancer of sandbox"
  tags        = { Name = "sandbox-load-balancer" }
  vpc_id      = aws_vpc.vpc.id
}

resource "aws_security_group" "allow_worker" {
  name        = "sandbox-worker"
  description = "Workers of sandbox"
  tags        = { Name = "sandbox-worker", "kubernetes.io/cluster/sandbox" = "owned" }
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

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_talos_admin_1" {
  cidr_ipv4         = "203.0.113.0/24"
  description       = "Talos API, from administrators"
  from_port         = 50000
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_control_plane.id
  to_port           = 50000
}

resource "aws_vpc_security_group_ingress_rule" "allow_control_plane_talos_from_control_plane" {
  description                  = "Talos API, passed on by control planes, from control planes"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
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

resource "aws_vpc_security_group_ingress_rule" "allow_worker_talos_admin_1" {
  cidr_ipv4         = "203.0.113.0/24"
  description       = "Talos API, from administrators"
  from_port         = 50000
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_worker.id
  to_port           = 50000
}

resource "aws_vpc_security_group_ingress_rule" "allow_worker_talos_from_control_plane" {
  description                  = "Talos API, passed on by control planes, from control planes"
  from_port                    = 50000
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.allow_control_plane.id
  security_group_id            = aws_security_group.allow_worker.id
  to_port                      = 50000
}

resource "aws_vpc_security_group_ingress_rule" "control_plane_kubernetes" {
  for_each = local.control_plane

  cidr_ipv4         = "${aws_eip.control_plane_address[each.key].public_ip}/32"
  description       = "Kubernetes API, from sandbox-${each.key}"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_load_balancer.id
  to_port           = 6443
}

resource "aws_vpc_security_group_ingress_rule" "worker_kubernetes" {
  for_each = local.worker

  cidr_ipv4         = "${aws_instance.worker[each.key].public_ip}/32"
  description       = "Kubernetes API, from sandbox-${each.key}"
  from_port         = 6443
  ip_protocol       = "tcp"
  security_group_id = aws_security_group.allow_load_balancer.id
  to_port           = 6443
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
  name                             = "sandbox-api"
  enable_cross_zone_load_balancing = true
  enable_deletion_protection       = false
  internal                         = false
  load_balancer_type               = "network"
  security_groups                  = [aws_security_group.allow_load_balancer.id]
  subnets                          = [aws_subnet.public_1.id, aws_subnet.public_2.id]
  tags                             = { Name = "sandbox-api" }
}

resource "aws_lb_target_group" "api_kubernetes" {
  name                 = "sandbox-k8s"
  deregistration_delay = "30"
  port                 = 6443
  preserve_client_ip   = "false"
  protocol             = "TCP"
  tags                 = { Name = "sandbox-kubernetes" }
  target_type          = "instance"
  vpc_id               = aws_vpc.vpc.id

  health_check {
    interval = 10
    port     = "6443"
    protocol = "TCP"
  }
}

resource "aws_lb_target_group_attachment" "control_plane_kubernetes_target" {
  for_each = local.control_plane

  port             = 6443
  target_group_arn = aws_lb_target_group.api_kubernetes.arn
  target_id        = aws_instance.control_plane[each.key].id
}

resource "aws_lb_listener" "api_kubernetes_listener" {
  load_balancer_arn = aws_lb.api.arn
  port              = 6443
  protocol          = "TCP"
  tags              = { Name = "sandbox-kubernetes" }

  default_action {
    target_group_arn = aws_lb_target_group.api_kubernetes.arn
    type             = "forward"
  }
}

resource "aws_route53_record" "dns" {
  name    = "k8s.sandbox.example.com"
  type    = "A"
  zone_id = data.aws_route53_zone.dns_zone.zone_id

  alias {
    name                   = aws_lb.api.dns_name
    evaluate_target_health = true
    zone_id                = aws_lb.api.zone_id
  }
}
