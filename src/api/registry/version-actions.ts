import { actionsOf } from '#api/pipeline/actions.ts';
import type { TemplateTarget } from '#domain/registry/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a version of a template. A yanked version still runs if a run names it exactly. */
export const versionActions = actionsOf<TemplateTarget>()({
  run: { operation: 'template_versions.run', findRefusal: findArchivedRefusal },
  yank: { operation: 'template_versions.yank' },
});
