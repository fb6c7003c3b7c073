#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Every shipped experiment is one that the lab takes, where its builds are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Basename qw(basename);
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
mkdir "$dir/$_" for qw(builds images);
sub put {
	my ($file, $json) = @_;
	open my $fh, ">", "$dir/$file" or die;
	print $fh JSON::PP->new->encode($json);
}

# Builds and images that nobody will boot, as the specs name them.
my %specs = map { basename($_) => Labd::spec("experiments/" . basename($_)) } glob "$Labd::top/experiments/*.json";
my %workloads;
for my $spec (values %specs) {
	my $subject = $spec->{subject};
	$workloads{$subject}{ $_->{workload} } = 1 for @{ $spec->{scenarios} };
	put("builds/$_->{build}.json", { name => $_->{build}, subject => $subject, kernel => "/nowhere/k",
		build_id => "ab" x 20,
		$subject eq "xen" ? (hypervisor => "/nowhere/x", hypervisor_build_id => "cd" x 20) : () })
		for @{ $spec->{arms} };
}
put("images/$_.json", { name => $_, image => "/nowhere/image", sha256 => "cd" x 32,
	files => [ map { { path => "/bin/$_", sha256 => "ef" x 32 } } keys %{ $workloads{$_} } ] }) for keys %workloads;

my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ],
	env => { LABD_QEMU => "/bin/false", LABD_BOCHS => "/bin/false" });
cmp_ok(scalar keys %specs, ">=", 8, "there are experiments");
for my $name (sort keys %specs) {
	my $r = $lab->request("POST", "/api/v1/experiments", $specs{$name});
	is($r->{status}, 201, "$name is taken") or diag $r->{content};
	$lab->request("POST", "/api/v1/experiments/$r->{json}{id}/cancel", "") if $r->{status} == 201;
}

# Where arms are few or changed, the figures promised of an experiment would be of another one.
my $ept = $specs{"kvm-empty-leaf-ept.json"};
is(join(" ", map { $_->{name} } @{ $ept->{arms} }), "base iterator hint scan nogate", "the arms on EPT");
is(join(" ", map { $_->{name} } @{ $ept->{scenarios} }), "same16 same4 sweep16 sweep4 sweep2 sweep1 writeback16",
	"its scenarios");
is("$_->{machine} $_->{rounds}", "bochs 5", "$_->{name}: machine and rounds")
	for @specs{qw(kvm-empty-leaf-ept.json xen-grant-batch-ept.json)};
done_testing;
