#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# One build over HTTP: manifest, who used it, its texts, its trace events; and no file that a stranger names.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;

my $dir  = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;
mkdir "$dir/$_" for qw(builds images);
sub put {
	my ($file, $data) = @_;
	open my $fh, ">:raw", "$dir/$file" or die;
	print $fh ref $data ? $json->encode($data) : $data;
	close $fh or die;
	return "$dir/$file";
}
put("bzImage", "kernel");
put("image", "image");
put("log", "old line\n" x 600_000 . "the last line\n");
put("config", "CONFIG_KVM=y\n");
put("series", "From: a\n---\n");
my $id = "ab" x 20;
put("builds/kvm-base.json", { name => "kvm-base", subject => "kvm", kernel => "$dir/bzImage", build_id => $id,
	log => "$dir/log", config => "$dir/config", series_text => "$dir/series" });
put("builds/kvm-hint.json", { name => "kvm-hint", subject => "kvm", kernel => "$dir/bzImage", build_id => $id,
	log => "$dir/gone" });
put("builds/xen-x.json", { name => "xen-x", subject => "xen", kernel => "$dir/bzImage", build_id => "cd" x 20,
	hypervisor => "$dir/xen", hypervisor_build_id => "ef" x 20 });
put("images/kvm.json", { name => "kvm", image => "$dir/image", sha256 => "cd" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ],
	env => { LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $id,
		FAKE_EVENTS => "kvm:kvm_exit kvmmmu:zap nonsense a:b:c <script>:x :y z: kvm:kvm_exit" });
my $api = "/api/v1/builds";

my $r = $lab->get("$api/kvm-base");
is($r->{status}, 200, "a build");
is($r->{json}{build_id}, $id, "its manifest");
is_deeply($r->{json}{used_by}, [], "nobody used it");
ok(!$r->{json}{registered}, "made here");

# Texts.
$r = $lab->get("$api/kvm-base/log");
is($r->{status}, 200, "its log");
like($r->{headers}{"content-type"}, qr{^text/plain}, "is text");
like($r->{content}, qr/\A\[the first \d+ bytes are left out\]\nold line\n/, "from where it is not too long, by whole lines");
like($r->{content}, qr/the last line\n\z/, "to its end");
cmp_ok(length $r->{content}, "<=", (4 << 20) + 100, "4 MiB of it");
is($lab->get("$api/kvm-base/config")->{content}, "CONFIG_KVM=y\n", "its configuration");
is($lab->get("$api/kvm-base/series")->{content}, "From: a\n---\n", "its series");
for my $case ([ "kvm-hint/log", qr/cannot be read/ ], [ "kvm-hint/series", qr/build it again/ ], [ "none", qr/no build "none"/ ],
	[ "none/log", qr/no build "none"/ ], [ "none/events", qr/no build/ ]) {
	$r = $lab->get("$api/$case->[0]");
	is($r->{status}, 404, "$case->[0]: 404");
	like($r->{json}{detail}, $case->[1], "and why: $r->{json}{detail}");
}

# What is registered over HTTP names no file for labd to read.
$r = $lab->request("POST", $api, { name => "stranger", subject => "kvm", kernel => "$dir/bzImage", build_id => $id,
	log => "$lab->{data}/token", config => "/etc/passwd", series_text => "$lab->{data}/token" });
is($r->{status}, 201, "a build is registered") or diag $r->{content};
ok($lab->get("$api/stranger")->{json}{registered}, "it says so");
for my $what (qw(log config series)) {
	$r = $lab->get("$api/stranger/$what");
	is($r->{status}, 404, "its $what: 404");
	like($r->{json}{detail}, qr/registered over HTTP/, "and why: $r->{json}{detail}");
	ok(index($r->{content}, $lab->token) < 0 && $r->{content} !~ /root:/, "and nothing of the file");
}
is($lab->request("POST", $api, { name => "kvm-base", subject => "kvm", kernel => "/x", build_id => $id })->{status}, 409,
	"nor does one take a name that is taken");

# Events: unknown, then as the first boot said.
$r = $lab->get("$api/kvm-base/events")->{json};
is_deeply($r->{events}, [], "no events before a boot");
like($r->{why}, qr/no boot/, "and why");
my $spec = Labd::spec("experiments/kvm-first.json");
$spec->{rounds} = 1;
delete $_->{primary} for @{ $spec->{metrics} };
my $experiment = $lab->submit($spec);
$lab->finish($experiment, 60);
$r = $lab->get("$api/kvm-base/events")->{json};
is_deeply($r->{events}, [ "kvm:kvm_exit", "kvmmmu:zap" ], "the events of its boot, each once, and nothing else");
is($r->{source}, "boot of build-id $id", "and where they are from");
is($r->{why}, undef, "so there is no why");
is_deeply($lab->get("$api/kvm-base")->{json}{used_by}[0]{experiment}, $experiment, "who used it");
is($lab->value("SELECT count(*) FROM boot WHERE state = 'lost-connection' OR detail LIKE '%EVENTS%'"), 0, "the question hurt no boot");
my $xen = $lab->get("$api/xen-x/events")->{json};
ok((grep { $_ eq "xen:p2m_flush" } @{ $xen->{events} }), "a hypervisor's records are known");
is($xen->{source}, undef, "its kernel's are not");

# One boot more does not ask again.
is($lab->value("SELECT count(*) FROM build_event"), 2, "stored once");
is($lab->stop, 0, "it ends well");
done_testing;
