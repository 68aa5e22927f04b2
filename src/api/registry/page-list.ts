import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  catalog: '/catalog',
  newTemplate: '/catalog/new',
  template: '/catalog/:id',
  editTemplate: '/catalog/:id/edit',
  archiveTemplate: '/catalog/:id/archive',
  unarchiveTemplate: '/catalog/:id/unarchive',
  deleteTemplate: '/catalog/:id/delete',
  newRun: '/catalog/:id/run',
  publishVersion: '/catalog/:id/publish',
  templateVersion: '/catalog/:id/versions/:version',
  yankVersion: '/catalog/:id/versions/:version/yank',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.catalog]: { deleted: 'Template deleted. Its runs are kept.' },
  [pages.template]: {
    created: 'Template created. Publish its first version, so that it can be run.',
    saved: 'Template saved.',
    archived: 'Template archived.',
    unarchived: 'Template unarchived.',
  },
  [pages.templateVersion]: {
    published: 'Version published.',
    yanked: 'Version withdrawn. Ranges and “latest” no longer choose it.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  templates: {
    kind: 'template',
    label: 'Templates',
    icon: 'book-open',
    page: ({ id }) => toPath(pages.template, { id }),
  },
  template_versions: {
    kind: 'template_version',
    label: 'Versions of templates',
    icon: 'tag',
    page: ({ parentId: id, name: version }) => id && version && toPath(pages.templateVersion, { id, version }),
  },
} as const satisfies Record<string, ResourceKind>;
