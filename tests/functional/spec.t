#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A mistake in a spec is one clear problem that names the key, and nothing is stored.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Storable qw(dclone);
use Test::More;

# A lab with builds and an image that nobody will boot.
my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/$_" for qw(builds images);
sub put {
	my ($file, $json) = @_;
	open my $fh, ">", "$dir/$file" or die;
	print $fh JSON::PP->new->encode($json);
}
put("builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => "/nowhere/$_", build_id => "ab" x 20 })
	for qw(base hint);
put("images/kvm.json", { name => "kvm", image => "/nowhere/image", sha256 => "cd" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ],
	env => { LABD_QEMU => "/bin/false" });

my $good = Labd::spec("experiments/kvm-first.json");
my $raw  = JSON::PP->new->utf8;

# name, key (or undef), pattern of the detail, change
my @mistakes = (
	[ "unknown key", "colour", qr/unknown/i, sub { $_[0]{colour} = "red" } ],
	[ "unknown key inside", "arms[1].bild", qr/unknown/i, sub { $_[0]{arms}[1]{bild} = "x" } ],
	[ "wrong type", "rounds", qr/integer|number/i, sub { $_[0]{rounds} = "five" } ],
	[ "zero rounds", "rounds", qr/1/, sub { $_[0]{rounds} = 0 } ],
	[ "unknown build", "arms[1].build", qr/no build "kvm-hnt"/, sub { $_[0]{arms}[1]{build} = "kvm-hnt" } ],
	[ "unknown machine", "machine", qr/no machine "abacus"/, sub { $_[0]{machine} = "abacus" } ],
	[ "unknown workload", "scenarios[0].workload", qr{/bin/dance}, sub { $_[0]{scenarios}[0]{workload} = "dance" } ],
	[ "unknown subject", "subject", qr/no image/, sub { $_[0]{subject} = "vmware" } ],
	[ "duplicate arms", "arms[1].name", qr/base/, sub { $_[0]{arms}[1]{name} = "base" } ],
	[ "duplicate scenarios", "scenarios[1].name", qr/same16/, sub { $_[0]{scenarios}[1]{name} = "same16" } ],
	[ "unknown record of Xen's", "trace.events[0]", qr/no record xen:zap/, sub { $_[0]{trace}{events}[0] = "xen:zap" } ],
	[ "mask of no classes", "trace.xen_mask", qr/mask/, sub { $_[0]{trace}{xen_mask} = "0x1" } ],
	[ "Xen on another clock", "trace.clock", qr/mono/,
		sub { $_[0]{trace}{xen_mask} = "0x2f000"; $_[0]{trace}{clock} = "boot" } ],
	[ "event not recorded", "metrics[0].event", qr/not recorded|record/, sub { $_[0]{metrics}[0]{event} = "kvm:kvm_exit" } ],
	[ "no arms", "arms", qr/2/, sub { $_[0]{arms} = [] } ],
);
for my $mistake (@mistakes) {
	my ($name, $key, $detail, $change) = @$mistake;
	my $spec = dclone($good);
	$change->($spec);
	my $r = $lab->request("POST", "/api/v1/experiments", $spec);
	like($r->{status}, qr/^4\d\d$/, "$name: refused with $r->{status}");
	is($r->{headers}{"content-type"}, "application/problem+json", "$name: as a problem");
	is($r->{json}{key}, $key, "$name: names the key");
	like($r->{json}{detail} // "", $detail, "$name: $r->{json}{detail}");
}

my $text = $raw->encode($good);
for my $case (
	[ "bad JSON", '{"name": "x",', 400, qr/line \d+/ ],
	[ "bad UTF-8", $text =~ s/"name":"[^"]*"/"name":"\xff\xfe"/r, 400, qr/UTF-8/i ],
	[ "a list", "[]", 4, qr/object/ ],
	[ "nothing", "", 4, qr/\S/ ],
	[ "10 MB", "{\"name\":\"" . "x" x 10_000_000 . "\"}", 413, qr/\S/ ],
	) {
	my ($name, $body, $status, $detail) = @$case;
	my $r = $lab->request("POST", "/api/v1/experiments", $body);
	like($r->{status}, qr/^$status/, "$name: refused with $r->{status}");
	like($r->{json}{detail} // "", $detail, "$name: " . ($r->{json}{detail} // ""));
}
is($lab->value("SELECT count(*) FROM experiment"), 0, "nothing was stored");

# The same spec under one Idempotency-Key is one experiment.
my %key    = ("Idempotency-Key" => "abc-1");
my $first  = $lab->request("POST", "/api/v1/experiments", $good, %key);
my $second = $lab->request("POST", "/api/v1/experiments", $good, %key);
is($first->{status}, 201, "a good spec is taken") or diag $first->{content};
is($second->{json}{id}, $first->{json}{id}, "a repeated key answers with the first experiment");
my $other = dclone($good);
$other->{rounds} = 6;
is($lab->request("POST", "/api/v1/experiments", $other, %key)->{status}, 409, "but not for another spec");
is($lab->value("SELECT count(*) FROM experiment"), 1, "one experiment is stored");

# Its machine cannot start: the lab tries within bounds and says why it gave up.
is($lab->finish($first->{json}{id}, 120), "failed", "without a machine the experiment fails");
like($lab->value("SELECT reason FROM experiment"), qr/\S/, "with a reason");
is($lab->value("SELECT DISTINCT state FROM v_boot"), "infra-failed", "every boot is the lab's failure");

done_testing;
