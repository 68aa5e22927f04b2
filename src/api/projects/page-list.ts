import { archivingConfirmations, bindingConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  projects: '/projects',
  newProject: '/projects/new',
  project: '/projects/:id',
  editProject: '/projects/:id/edit',
  archiveProject: '/projects/:id/archive',
  unarchiveProject: '/projects/:id/unarchive',
  transferProject: '/projects/:id/transfer',
  deleteProject: '/projects/:id/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.projects]: { deleted: 'Project deleted.' },
  [pages.project]: { ...archivingConfirmations('Project'), ...bindingConfirmations },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  projects: { kind: 'project', label: 'Projects', icon: 'folder', page: ({ id }) => toPath(pages.project, { id }) },
} as const satisfies Record<string, ResourceKind>;
