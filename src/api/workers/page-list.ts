import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  workers: '/workloads/workers',
  worker: '/workloads/workers/:id',
  drainWorker: '/workloads/workers/:id/drain',
  workerPool: '/workloads/pools/:name',
  newWorkerPool: '/workloads/pools/new',
  deleteWorkerPool: '/workloads/pools/:name/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.workers]: {
    draining: 'Worker draining. It finishes its runs and takes no new ones.',
    'pool-created': 'Pool created.',
    'pool-saved': 'Pool saved.',
    'pool-deleted': 'Pool deleted.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  workers: { kind: 'worker', label: 'Workers', icon: 'server', page: ({ id }) => toPath(pages.worker, { id }) },
} as const satisfies Record<string, ResourceKind>;
