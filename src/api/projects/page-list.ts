import { archivingNews, bindingNews } from '#api/tenancy/page-news.ts';
import type { NewsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
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

export const news = {
  [pages.projects]: { deleted: 'Project deleted.' },
  [pages.project]: { ...archivingNews('Project'), ...bindingNews },
} as const satisfies NewsOn<typeof pages>;

export const kinds = {
  projects: { kind: 'project', label: 'Projects', icon: 'folder', page: ({ id }) => toPath(pages.project, { id }) },
} as const satisfies Record<string, ResourceKind>;
