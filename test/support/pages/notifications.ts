import { newId } from '#domain/shared/ids.ts';
import type { TestApi } from '#test/support/api/in-process-api.ts';
import type { People } from './people.ts';

export interface Told {
  readonly user: string;
  readonly kind: string;
  readonly subject: { readonly kind: string; readonly id: string };
  readonly title: string;
  readonly isRead?: boolean;
}

/** Adds notifications as a worker does. The pages run without workers. */
export async function addNotifications(api: TestApi, notifications: readonly Told[]): Promise<void> {
  for (const { user, kind, subject, title, isRead } of notifications) {
    await api.rows(
      `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, read_at, created_at)
       values (?, ?, ?, ?, ?, ?, ?, case when ? then now() end, now())`,
      [newId(), user, kind, subject.kind, subject.id, title, newId(), isRead ?? false],
    );
  }
}

/** What the reviewer of Northwind was told: unread and read, of several kinds, and twice of one run. */
export function addReviewersNotifications(
  api: TestApi,
  { reviewer }: People,
  { run, monitor, assemblyRun }: { readonly run: string; readonly monitor: string; readonly assemblyRun: string },
): Promise<void> {
  const user = reviewer.id;
  const [ofRun, ofMonitor] = [{ kind: 'run', id: run } as const, { kind: 'drift_monitor', id: monitor } as const];
  const ofAssemblyRun = { kind: 'assembly_run', id: assemblyRun } as const;
  const failure = 'The run of the assembly Shop platform failed: "database": Error: no capacity in this zone';
  return addNotifications(api, [
    { user, kind: 'run.finished', subject: ofAssemblyRun, title: failure },
    {
      user,
      kind: 'run.finished',
      subject: ofRun,
      title: 'The apply run of network was canceled: “Move the NAT gateways to one for each zone.”',
      isRead: true,
    },
    { user, kind: 'drift_monitor.scan_failed', subject: ofMonitor, title: 'The scan of network failed' },
    { user, kind: 'drift_monitor.drifted', subject: ofMonitor, title: 'A scan of network found 2 new deviations' },
    {
      user,
      kind: 'run.approval_requested',
      subject: ofRun,
      title: 'Jonas Weber asks you to review the apply run of network',
    },
  ]);
}
