import { actionsOf } from '#api/pipeline/actions.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';

/** What a caller may do with a project. */
export const projectActions = actionsOf<ProjectTarget & Used>()({
  update: { operation: 'projects.update', findRefusal: findArchivedRefusal },
  archive: { operation: 'projects.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: { operation: 'projects.unarchive', findRefusal: (project) => findUnarchivingRefusal('project', project) },
  transfer: { operation: 'projects.transfer', findRefusal: findArchivedRefusal },
  delete: { operation: 'projects.delete', findRefusal: ({ deletion }) => deletion },
  create_environment: { operation: 'environments.create', findRefusal: findArchivedRefusal },
});
