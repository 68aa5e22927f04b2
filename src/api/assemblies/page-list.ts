import { archivingConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  assemblies: '/assemblies',
  newAssembly: '/assemblies/new',
  assembly: '/assemblies/:id',
  editAssembly: '/assemblies/:id/edit',
  archiveAssembly: '/assemblies/:id/archive',
  unarchiveAssembly: '/assemblies/:id/unarchive',
  deleteAssembly: '/assemblies/:id/delete',
  assemblyDraft: '/assemblies/:id/draft',
  publishAssembly: '/assemblies/:id/publish',
  assemblyVersion: '/assemblies/:id/versions/:version',
  runAssembly: '/assemblies/:id/run',
  assemblyRun: '/assemblies/:id/runs/:runID',
  assemblyRunByID: '/workloads/assembly-runs/:id',
  assemblyRunChanges: '/assemblies/:id/runs/:runID/stream',
  cancelAssemblyRun: '/assemblies/:id/runs/:runID/cancel',
  resumeAssemblyRun: '/assemblies/:id/runs/:runID/resume',
} as const satisfies Record<string, LocalPath>;

const ofAssembly = {
  ...archivingConfirmations('Assembly'),
  created: 'Assembly created. Write its draft, then publish it.',
  published: 'Version published.',
  'draft-saved': 'Draft saved.',
};

export const confirmations = {
  [pages.assemblies]: { deleted: 'Assembly deleted. Its runs are kept.' },
  [pages.assembly]: ofAssembly,
  [pages.assemblyDraft]: ofAssembly,
  [pages.assemblyRun]: {
    admitted: 'Run created.',
    canceled: 'Cancellation requested, also for the runs of its nodes.',
    resumed: 'Run resumed. Nodes that succeeded keep their outputs.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  assemblies: {
    kind: 'assembly',
    label: 'Assemblies',
    icon: 'workflow',
    page: ({ id }) => toPath(pages.assembly, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
