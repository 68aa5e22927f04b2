/** What people are told, and what it is about. Pure. */

/** Every kind of notification, with who hears of it. Clients match the names: they never change. */
export const notificationKinds = {
  'run.approval_requested': 'Somebody asked you to review a run.',
  'run.finished': 'A run that you requested, or answer for, ended.',
  'drift_monitor.drifted': 'A scan found something that is not as it was deployed, in one of your teams.',
  'drift_monitor.scan_failed': 'A scan failed, in one of your teams.',
  'webhook.disabled': 'The service disabled a webhook that you manage.',
  'quota.exceeded': 'A quota is full. Administrators of the installation hear of it.',
  'api_key.expiring': 'A key of yours, or of a service account that you own, ends within a week.',
  'drift_finding.suppression_ending': 'A suppression ends within a day, in one of your teams.',
  'instance.expiring':
    'The service destroys an instance within a day, because its time to live ends, in one of your teams.',
} as const;
export type NotificationKind = keyof typeof notificationKinds;
/** The kinds that come by e-mail and in the chat, too, unless a user decides otherwise: those that ask somebody to do something. */
export const mailedKinds: ReadonlySet<NotificationKind> = new Set([
  'run.approval_requested',
  'webhook.disabled',
  'quota.exceeded',
  'api_key.expiring',
  'drift_finding.suppression_ending',
  'instance.expiring',
]);
export function isNotificationKind(kind: string): kind is NotificationKind {
  return Object.hasOwn(notificationKinds, kind);
}
export const notificationKindNames = Object.keys(notificationKinds) as [NotificationKind, ...NotificationKind[]];

/** The kinds of things that notifications are about. */
export const subjectKinds = [
  'run',
  'drift_monitor',
  'drift_finding',
  'webhook',
  'quota',
  'api_key',
  'instance',
] as const;
export type SubjectKind = (typeof subjectKinds)[number];
