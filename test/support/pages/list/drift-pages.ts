import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

const pictured = { isPictured: true };

/** The pages of drift: findings, monitors, and what people do with them. */
export function driftPages({ drift }: Installation): DeclaredPage[] {
  const who = 'owner' as const;
  const monitor = { params: { id: drift.drifted }, who };
  const finding = { params: { id: drift.openFinding }, who };
  const suppressed = { params: { id: drift.suppressedFinding }, who };
  return [
    declare('drift', pages.drift, { who, ...pictured }),
    declare('drift-suppressed', pages.drift, { who, query: { status: 'suppressed' } }),
    declare('drift-resolved', pages.drift, { who, query: { status: 'resolved' } }),
    declare('drift-empty', pages.drift, { who: 'nobody' }),
    declare('drift-monitors', pages.drift, { who, query: { tab: 'monitors' }, ...pictured }),
    declare('drift-monitors-empty', pages.drift, { who: 'nobody', query: { tab: 'monitors' } }),
    declare('drift-monitor', pages.driftMonitor, { ...monitor, ...pictured }),
    declare('drift-monitor-scans', pages.driftMonitor, { ...monitor, query: { tab: 'scans' } }),
    declare('drift-monitor-rules', pages.driftMonitor, { ...monitor, query: { tab: 'rules' } }),
    declare('drift-monitor-failing', pages.driftMonitor, { params: { id: drift.failing }, who }),
    declare('drift-monitor-not-scanned', pages.driftMonitor, { params: { id: drift.notScanned }, who }),
    declare('drift-monitor-of-environment', pages.driftMonitor, { params: { id: drift.ofEnvironment }, who }),
    declare('drift-monitor-of-strangers', pages.driftMonitor, { ...monitor, who: 'fjordOwner', answers: 404 }),
    declare('drift-monitor-new', pages.newDriftMonitor, { who }),
    declare('drift-monitor-edit', pages.editDriftMonitor, monitor),
    declare('drift-monitor-delete', pages.deleteDriftMonitor, monitor),
    declare('drift-monitor-scan', pages.scanForDrift, monitor),
    declare('drift-ignore-rules', pages.driftIgnoreRules, monitor),
    declare('drift-finding', pages.driftFinding, { ...finding, ...pictured }),
    declare('drift-finding-suppressed', pages.driftFinding, suppressed),
    declare('drift-finding-whole', pages.driftFinding, { params: { id: drift.wholeFinding }, who }),
    declare('drift-finding-viewed', pages.driftFinding, { ...finding, who: 'viewer' }),
    declare('drift-finding-of-strangers', pages.driftFinding, { ...finding, who: 'fjordOwner', answers: 404 }),
    declare('drift-suppress', pages.suppressDriftFinding, finding),
    declare('drift-suppress-several', pages.suppressDriftFindings, {
      who,
      query: { findings: [drift.openFinding, drift.wholeFinding].map((id) => `${id}:${id}`) },
    }),
    declare('drift-suppress-none', pages.suppressDriftFindings, { who }),
    declare('drift-reopen', pages.reopenDriftFinding, suppressed),
    declare('drift-remediate', pages.remedyDriftFinding, finding),
  ];
}
