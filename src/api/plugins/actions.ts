import { actionsOf } from '#api/pipeline/actions.ts';
import type { Place } from '#domain/plugins/places/place-store.ts';
import type { ResourceDetails } from '#domain/plugins/resources/store.ts';

/** What a caller may do with a resource of a plugin. Restoring it may find more in the way, such as a missing row. */
export const resourceActions = actionsOf<Place & { readonly resource: ResourceDetails }>()({
  delete: {
    operation: 'plugin_resources.delete',
    findRefusal: ({ resource }) =>
      resource.deletedAt === null ? null : { message: 'the resource is deleted already' },
  },
  restore: {
    operation: 'plugin_resources.restore',
    findRefusal: ({ resource }) => (resource.deletedAt === null ? { message: 'the resource is not deleted' } : null),
  },
});
