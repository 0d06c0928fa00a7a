# One machine with a volume: everything in one process.

module "trapline" {
  source        = "../../modules/single"
  vpc_id        = var.vpc_id
  subnet_id     = var.subnet_id
  ami_id        = var.ami_id
  release       = var.release
  allowed_cidrs = var.allowed_cidrs
}
