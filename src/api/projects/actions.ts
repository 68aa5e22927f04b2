import { actionsOf } from '#api/pipeline/actions.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a project. Whether it owns something that prevents archiving or deletion is found then. */
export const projectActions = actionsOf<ProjectTarget>()({
  update: { operation: 'projects.update', findRefusal: findArchivedRefusal },
  archive: { operation: 'projects.archive' },
  unarchive: { operation: 'projects.unarchive', findRefusal: (project) => findUnarchivingRefusal('project', project) },
  transfer: { operation: 'projects.transfer', findRefusal: findArchivedRefusal },
  delete: { operation: 'projects.delete' },
  create_environment: { operation: 'environments.create', findRefusal: findArchivedRefusal },
});
