# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# etcd snapshots, and the log of who touched them.
resource "aws_s3_bucket" "backups" {
  bucket_prefix = "staging-backups-"
  tags          = { Name = "staging-backups" }

  depends_on = [aws_s3_bucket.backups_logs]
}

resource "aws_s3_bucket" "backups_logs" {
  bucket_prefix = "staging-backups-logs-"
  force_destroy = true
  tags          = { Name = "staging-backups-logs" }
}

resource "aws_s3_bucket_public_access_block" "backups_logs_private" {
  block_public_acls       = true
  block_public_policy     = true
  bucket                  = aws_s3_bucket.backups_logs.id
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_public_access_block" "backups_private" {
  block_public_acls       = true
  block_public_policy     = true
  bucket                  = aws_s3_bucket.backups.id
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "backups_logs_versions" {
  bucket = aws_s3_bucket.backups_logs.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_versioning" "backups_versions" {
  bucket = aws_s3_bucket.backups.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "backups_encryption" {
  bucket = aws_s3_bucket.backups.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      kms_master_key_id = aws_kms_key.key.arn
      sse_algorithm     = "aws:kms"
    }
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "backups_logs_encryption" {
  bucket = aws_s3_bucket.backups_logs.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "backups_lifecycle" {
  bucket = aws_s3_bucket.backups.id

  rule {
    id     = "expire"
    status = "Enabled"

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }

    filter {
      prefix = ""
    }

    noncurrent_version_expiration {
      noncurrent_days = 30
    }
  }

  depends_on = [aws_s3_bucket_versioning.backups_versions]
}

resource "aws_s3_bucket_lifecycle_configuration" "backups_logs_lifecycle" {
  bucket = aws_s3_bucket.backups_logs.id

  rule {
    id     = "expire"
    status = "Enabled"

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }

    expiration {
      days = 365
    }

    filter {
      prefix = ""
    }

    noncurrent_version_expiration {
      noncurrent_days = 365
    }
  }

  depends_on = [aws_s3_bucket_versioning.backups_logs_versions]
}

resource "aws_s3_bucket_logging" "backups_logging" {
  bucket        = aws_s3_bucket.backups.id
  target_bucket = aws_s3_bucket.backups_logs.id
  target_prefix = "access/"

  depends_on = [aws_s3_bucket_policy.backups_logs_policy]
}

resource "aws_s3_bucket_notification" "backups_events" {
  bucket      = aws_s3_bucket.backups.id
  eventbridge = true
}

resource "aws_s3_bucket_notification" "backups_logs_events" {
  bucket      = aws_s3_bucket.backups_logs.id
  eventbridge = true
}

resource "aws_s3_bucket_policy" "backups_logs_policy" {
  bucket = aws_s3_bucket.backups_logs.id
  policy = jsonencode({
    Statement = [
      {
        Action    = "s3:*"
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
        Effect    = "Deny"
        Principal = "*"
        Resource  = [aws_s3_bucket.backups_logs.arn, "${aws_s3_bucket.backups_logs.arn}/*"]
        Sid       = "TlsOnly"
      },
      {
        Action = "s3:PutObject"
        Condition = {
          ArnLike      = { "aws:SourceArn" = aws_s3_bucket.backups.arn }
          StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.account.account_id }
        }
        Effect    = "Allow"
        Principal = { Service = "logging.s3.amazonaws.com" }
        Resource  = "${aws_s3_bucket.backups_logs.arn}/*"
        Sid       = "AccessLogs"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_s3_bucket_policy" "backups_policy" {
  bucket = aws_s3_bucket.backups.id
  policy = jsonencode({
    Statement = [
      {
        Action    = "s3:*"
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
        Effect    = "Deny"
        Principal = "*"
        Resource  = [aws_s3_bucket.backups.arn, "${aws_s3_bucket.backups.arn}/*"]
        Sid       = "TlsOnly"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_kms_key" "key" {
  deletion_window_in_days = 30
  description             = "Backups and logs of staging"
  enable_key_rotation     = true
  tags                    = { Name = "staging" }
  policy = jsonencode({
    Statement = [
      {
        Action = "kms:*"
        Effect = "Allow"
        Principal = {
          AWS = "arn:${data.aws_partition.partition.partition}:iam::${data.aws_caller_identity.account.account_id}:root"
        }
        Resource = "*"
        Sid      = "Administrators"
      },
      {
        Action = ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
        Condition = {
          ArnLike = {
            "kms:EncryptionContext:aws:logs:arn" = "arn:${data.aws_partition.partition.partition}:logs:eu-central-1:${data.aws_caller_identity.account.account_id}:*"
          }
        }
        Effect    = "Allow"
        Principal = { Service = "logs.eu-central-1.amazonaws.com" }
        Resource  = "*"
        Sid       = "Logs"
      },
    ]
    Version = "2012-10-17"
  })
}
