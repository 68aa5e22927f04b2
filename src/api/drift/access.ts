import { findFindingOwner } from '#domain/drift/findings/finding-target.ts';
import { findMonitorOwner } from '#domain/drift/monitors/monitor-target.ts';
import type { Access } from '#domain/shared/access/decide.ts';

/** Who may do what with drift monitors and findings (specification, *Run and drift rules*; docs/drift.md, *Who may*). */

const listing = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['drift_monitor:read'],
  teamAction: 'team.metadata.read',
} as const;
/** A monitor of an instance or a template without a team belongs to the installation, and only administrators may know about it. */
const reading = { ...listing, installation: 'hidden' } as const;
const writing = { ...reading, anyOf: ['drift_monitor:write'], teamAction: 'team.metadata.write' } as const;

const monitorReview = { resource: 'drift_monitors', unscoped: true, target: findMonitorOwner } as const;
const findingReview = { resource: 'drift_findings', unscoped: true, target: findFindingOwner } as const;

export const monitorAccess = {
  list: { ...listing, review: { resource: 'drift_monitors', verb: 'list', unscoped: true } },
  get: { ...reading, review: { ...monitorReview, verb: 'get' } },
  /** Not hidden, because everybody may know the instances and templates that a monitor of the installation could watch. */
  create: {
    ...writing,
    installation: 'administrators',
    review: { resource: 'drift_monitors', verb: 'create', unscoped: true },
  },
  update: { ...writing, review: { ...monitorReview, verb: 'update' } },
  delete: { ...writing, review: { ...monitorReview, verb: 'delete' } },
  scan: { ...writing, review: { ...monitorReview, verb: 'scan' } },
  /** Access to parts of a monitor, such as its scans and its rules. */
  nestedRead: { ...reading, review: { inherits: 'drift_monitors.get' } },
  nestedWrite: { ...writing, review: { inherits: 'drift_monitors.update' } },
} satisfies Record<string, Access>;

export const findingAccess = {
  list: { ...listing, review: { resource: 'drift_findings', verb: 'list', unscoped: true } },
  get: { ...reading, review: { ...findingReview, verb: 'get' } },
  nestedRead: { ...reading, review: { inherits: 'drift_findings.get' } },
  suppress: { ...writing, review: { ...findingReview, verb: 'suppress' } },
  /** The body names the findings, so `can-i` reviews one finding at a time. */
  suppressMany: { ...writing, review: { inherits: 'drift_findings.suppress' } },
  reopen: { ...writing, review: { ...findingReview, verb: 'reopen' } },
  remediate: { ...writing, allOf: ['run:create'], review: { ...findingReview, verb: 'remediate' } },
} satisfies Record<string, Access>;
