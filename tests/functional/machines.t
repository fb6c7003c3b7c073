#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# One machine over HTTP: environments, noise floors, how its boots ended.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab = Labd->new;
my $r   = $lab->get("/api/v1/machines/nothing");
is($r->{status}, 404, "an unknown machine: 404");
like($r->{json}{detail}, qr/"nothing", but .*\bqemu\b/, "which names those there are: $r->{json}{detail}");
$r = $lab->get("/api/v1/machines/qemu");
is($r->{status}, 200, "a machine without a boot");
is_deeply([ @{ $r->{json} }{qw(environments floors recent_boots)} ], [ [], [], [] ], "has empty lists");

# An A/A experiment with two pairs, and 120 boots.
my $sql = "BEGIN; INSERT INTO experiment (id, name, machine, subject, state, kind, spec, plan, plan_sha256, created)
	VALUES (1, 'aa', 'qemu', 'kvm', 'done', 'aa', '{}', '{}', '', 1), (2, 'other', 'bochs', 'kvm', 'done', 'ab', '{}', '{}', '', 1);
	INSERT INTO scenario VALUES (1, 1, 's', 'w', '{}'); INSERT INTO metric VALUES (1, 1, 'm', 'ns', 'sum', -1, 1, NULL);
	INSERT INTO compare (experiment, scenario, metric, base, arm, n_pairs, n_lower, ratios_json) VALUES (1, 's', 'm', 'a', 'b', 2, 1, '[1.02,0.95]');";
for my $i (1 .. 121) {
	my ($e, $state) = ($i == 121 ? 2 : 1, $i % 2 ? "ok" : "hung");
	my $round = int(($i + 1) / 2);
	$sql .= "INSERT INTO slot (id, experiment, round, position, arm, seed) VALUES ($i, $e, $round, $i, 'a', '1');
		INSERT INTO boot (id, slot, attempt, state, detail, token, console, env_json, env_key, started, ended)
		VALUES ($i, $i, 1, '$state', 'why', 'secret-token', '', '{\"cpus\":2}', 'k', $i, $i + 5000000);";
}
open my $fh, "|-", "sqlite3", "$lab->{data}/lab.db" or die;
print $fh "$sql COMMIT;";
close $fh or die "sqlite3";

$r = $lab->get("/api/v1/machines/qemu");
is($r->{status}, 200, "with them") or diag $r->{content};
my $m = $r->{json};
is($m->{name}, "qemu", "its name");
is_deeply($m->{boots}, { ok => 60, hung => 60 }, "boots by state");
is(scalar @{ $m->{recent_boots} }, 100, "the newest hundred");
is($m->{recent_boots}[0]{boot}, 120, "newest first, and none of another machine");
is($m->{recent_boots}[0]{took_ms}, 5, "and how long it took");
is_deeply([ map { [ $_->{key}, $_->{experiments}, $_->{environment}{cpus} ] } @{ $m->{environments} } ], [ [ "k", 1, 2 ] ], "environments");
is(scalar @{ $m->{floors} }, 1, "a floor");
cmp_ok(abs($m->{floors}[0]{floor} - 0.05), "<", 1e-12, "is the largest difference of the A/A pairs");
is($m->{floors}[0]{n_pairs}, 2, "of so many");
unlike($r->{content}, qr/secret-token/, "no token shows");
is($lab->stop, 0, "it ends well");
done_testing;
