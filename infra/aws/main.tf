# EC2 instances that end themselves, reachable by SSH from the controller only. Written against the documentation of the
# provider's version 6, whose resources take a `region` each. Never run on AWS.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
  backend "local" {}
}

# Another account is refused, so that a destroy cannot take what it does not see there for gone.
provider "aws" {
  region              = local.regions[0]
  allowed_account_ids = [var.account]

  default_tags {
    tags = local.tags
  }
}

data "aws_ami" "debian" {
  for_each    = local.images
  region      = each.value[0].region
  owners      = [var.image_owner]
  most_recent = true

  filter {
    name   = "name"
    values = ["${var.image}-${each.value[0].arch}-*"]
  }
}

resource "aws_vpc" "region" {
  for_each   = local.networks
  region     = each.key
  cidr_block = each.value
  tags       = { Name = local.prefix }

  lifecycle {
    precondition {
      condition     = var.controller_cidr != null
      error_message = "controller_cidr is needed: the address that may reach SSH, such as 203.0.113.7/32."
    }
    precondition {
      condition     = alltrue([for name in keys(var.hosts) : contains(keys(var.host_keys), name)])
      error_message = "host_keys has no key for: ${join(", ", setsubtract(keys(var.hosts), keys(var.host_keys)))}."
    }
  }
}

resource "aws_subnet" "zone" {
  for_each          = local.zones
  region            = each.value
  vpc_id            = aws_vpc.region[each.value].id
  availability_zone = each.key
  cidr_block        = local.subnets[each.key]
  tags              = { Name = local.prefix }
}

resource "aws_internet_gateway" "region" {
  for_each = local.networks
  region   = each.key
  vpc_id   = aws_vpc.region[each.key].id
  tags     = { Name = local.prefix }
}

resource "aws_route_table" "region" {
  for_each = local.networks
  region   = each.key
  vpc_id   = aws_vpc.region[each.key].id
  tags     = { Name = local.prefix }
}

resource "aws_route_table_association" "zone" {
  for_each       = local.zones
  region         = each.value
  subnet_id      = aws_subnet.zone[each.key].id
  route_table_id = aws_route_table.region[each.value].id
}

resource "aws_route" "internet" {
  for_each               = local.networks
  region                 = each.key
  route_table_id         = aws_route_table.region[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.region[each.key].id
}

# What is measured between regions goes over AWS's own network, between private addresses.
resource "aws_vpc_peering_connection" "pair" {
  for_each    = local.pairs
  region      = each.value.from
  vpc_id      = aws_vpc.region[each.value.from].id
  peer_region = each.value.to
  peer_vpc_id = aws_vpc.region[each.value.to].id
  tags        = { Name = local.prefix }
}

resource "aws_vpc_peering_connection_accepter" "pair" {
  for_each                  = local.pairs
  region                    = each.value.to
  vpc_peering_connection_id = aws_vpc_peering_connection.pair[each.key].id
  auto_accept               = true
  tags                      = { Name = local.prefix }
}

resource "aws_route" "peer" {
  for_each                  = local.ways
  region                    = each.value.from
  route_table_id            = aws_route_table.region[each.value.from].id
  destination_cidr_block    = local.networks[each.value.to]
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.pair[each.value.pair].id
}

resource "aws_security_group" "region" {
  for_each    = local.networks
  region      = each.key
  name        = local.prefix
  description = "app=orch orch-run=${var.run_id}"
  vpc_id      = aws_vpc.region[each.key].id
  tags        = { Name = local.prefix }
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  for_each          = local.networks
  region            = each.key
  security_group_id = aws_security_group.region[each.key].id
  description       = "SSH from the controller"
  cidr_ipv4         = var.controller_cidr
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
}

resource "aws_vpc_security_group_ingress_rule" "internal" {
  for_each          = local.networks
  region            = each.key
  security_group_id = aws_security_group.region[each.key].id
  description       = "anything between the run's own hosts"
  cidr_ipv4         = local.range
  ip_protocol       = "-1"
}

resource "aws_vpc_security_group_egress_rule" "any" {
  for_each          = local.networks
  region            = each.key
  security_group_id = aws_security_group.region[each.key].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_instance" "host" {
  for_each                    = var.hosts
  region                      = local.region[each.key]
  ami                         = data.aws_ami.debian["${local.region[each.key]} ${local.is_arm[each.key] ? "arm64" : "amd64"}"].id
  instance_type               = each.value.machine
  subnet_id                   = aws_subnet.zone[each.value.zone].id
  vpc_security_group_ids      = [aws_security_group.region[local.region[each.key]].id]
  associate_public_ip_address = true # for SSH
  user_data                   = "#cloud-config\n${sensitive(jsonencode(local.first_boot[each.key]))}\n"
  user_data_replace_on_change = true
  tags                        = { Name = "${local.prefix}-${each.key}", role = each.value.role }
  volume_tags                 = local.tags

  # The host powers itself off when its time is over: then AWS deletes it, and its disk. On demand, never spot. No instance
  # profile: nothing on the host may call AWS.
  instance_initiated_shutdown_behavior = "terminate"

  root_block_device {
    volume_type           = "gp3"
    volume_size           = var.disk_gb
    delete_on_termination = true
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  dynamic "credit_specification" {
    for_each = startswith(each.value.machine, "t") ? [1] : []
    content {
      cpu_credits = var.cpu_credits
    }
  }

  lifecycle {
    ignore_changes = [ami] # a newer image is no reason to replace a host of a run
  }

  timeouts {
    create = "5m"
    update = "5m"
    delete = "10m"
  }

  depends_on = [
    aws_route.internet, aws_route.peer, aws_route_table_association.zone, aws_vpc_security_group_egress_rule.any,
    aws_vpc_security_group_ingress_rule.ssh, aws_vpc_security_group_ingress_rule.internal,
  ]
}
