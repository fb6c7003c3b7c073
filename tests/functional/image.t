#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The initramfs of a machine: the same inputs give the same bytes, the manifest tells the truth, and
# a mistake leaves what was there.
use strict;
use warnings;
use Digest::SHA;
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP;
use Test::More;

my $script = "$FindBin::Bin/../../scripts/image.sh";
my $dir    = tempdir(CLEANUP => 1);
delete $ENV{O};

sub put {
	my ($file, $text) = @_;
	open my $fh, ">", "$dir/$file" or die "$file: $!";
	print $fh $text;
}

sub slurp {
	open my $fh, "<:raw", shift or return "";
	local $/;
	return <$fh>;
}

sub image {
	my $out = `$script --build $dir @_ 2>&1`;
	return ($? >> 8, $out);
}

sub sha256 { Digest::SHA->new(256)->add(shift)->hexdigest }

put("lab-agent", "an agent\n");
put("kvm-churn", "a workload\n");
is((image())[0], 0, "an image is made");
my $image    = slurp("$dir/images/kvm.cpio.gz");
my $manifest = decode_json(slurp("$dir/images/kvm.json"));
is($manifest->{sha256}, sha256($image), "the manifest has the image's hash");
is(slurp($manifest->{image}), $image, "and its path");
is_deeply($manifest->{files}, [
	{ path => "/bin/kvm-churn", sha256 => sha256("a workload\n") },
	{ path => "/init", sha256 => sha256("an agent\n") },
], "and its files");
is_deeply([ sort split /\n/, `zcat $dir/images/kvm.cpio.gz | cpio -t --quiet` ],
	[ qw(bin bin/kvm-churn dev init proc run sys tmp) ], "nothing else is in it but folders");

utime 1, 1, "$dir/images/kvm.cpio.gz", "$dir/images/kvm.json";
utime 1, 1, "$dir/lab-agent";
chmod 0700, "$dir/lab-agent";
image();
is((stat "$dir/images/kvm.cpio.gz")[9], 1, "an image that would not change is left alone");
is((stat "$dir/images/kvm.json")[9], 1, "and its manifest");

put("lab-agent", "another agent\n");
image();
isnt(slurp("$dir/images/kvm.cpio.gz"), $image, "one that would change is replaced");

is((image("--output", "more", "--extra", "/bin/ls:/bin/ls"))[0], 0, "an extra file is added");
like(`zcat $dir/images/more.cpio.gz | cpio -t --quiet`, qr{^lib.*/libc\.so\.6$}m, "with its libraries");

$image = slurp("$dir/images/kvm.cpio.gz");
for (
	[ "--extra", "needs a value" ],
	[ "--extra /bin/ls", "HOSTPATH:GUESTPATH" ],
	[ "--extra /bin/ls:/init", "two different files for /init" ],
	[ "--extra /bin/ls:/../ls", "no path for the image" ],
	[ "--extra '/bin/ls:/a\"b'", "no path for the image" ],
	[ "--extra /none:/bin/none", "/none is not a file" ],
	[ "--output ../kvm", "no name for an image" ],
	[ "--fast", "--fast is not an option" ],
) {
	my ($args, $says) = @$_;
	my ($status, $out) = image($args);
	ok($status == 1 && $out =~ /\Q$says\E/ && $out =~ /^image\.sh: .*\n\z/, "$args: $says") or diag $out;
}
is(slurp("$dir/images/kvm.cpio.gz"), $image, "mistakes leave the image alone");
is_deeply([ grep { /^\.kvm|^\.more/ } map { s{.*/}{}r } glob "$dir/images/.*" ], [], "and nothing behind");

done_testing;
