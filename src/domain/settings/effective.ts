import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import { type Retention, type RetentionKind, retentionKinds, type SettingsDocument } from './document.ts';

/** The defaults from the configuration of the installation, for settings that are not set. */
export interface InstallationDefaults {
  /** Null: forever. */
  readonly auditRetentionDays: number | null;
  readonly driftRetention: { readonly scanDays: number; readonly findingDays: number };
}

/** The policy where neither a template nor an environment has one, unless the settings say otherwise. */
export const usualApproval: ApprovalPolicy = { required: 0, when: 'never', allow_self: false };

/** The settings if nothing is set. */
export function defaultsOf({ auditRetentionDays, driftRetention }: InstallationDefaults) {
  const retention: Record<RetentionKind, Retention> = {
    audit: auditRetentionDays ?? 'forever',
    events: 'forever',
    run_logs: 'forever',
    run_plans: 'forever',
    drift_scans: driftRetention.scanDays,
    drift_findings: driftRetention.findingDays,
  };
  return { approvalPolicy: usualApproval, pool: defaultPool, retention };
}

/** The effective settings. */
export function effectiveSettings(document: SettingsDocument, installation: InstallationDefaults) {
  const defaults = defaultsOf(installation);
  return {
    approvalPolicy: document.default_approval_policy ?? defaults.approvalPolicy,
    pool: document.default_pool ?? defaults.pool,
    retention: Object.fromEntries(
      retentionKinds.map((kind) => [kind, document.retention?.[kind] ?? defaults.retention[kind]]),
    ) as Record<RetentionKind, Retention>,
  };
}
