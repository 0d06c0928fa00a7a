module trapline.test/netsmtp

go 1.19
