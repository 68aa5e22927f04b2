import { actionsOf } from '#api/pipeline/actions.ts';
import type { Place } from '#domain/plugins/places/place-store.ts';
import type { ResourceDetails } from '#domain/plugins/resources/store.ts';
import type { Refusal } from '#domain/shared/actions.ts';

/** A resource, with what the registry has against its restoration; null: nothing. */
interface ShownResource extends Place {
  readonly resource: ResourceDetails;
  readonly restorationRefusal: Refusal | null;
}

/** What a caller may do with a resource of a plugin. Restoring it may find more in the way: a row of the plugin's tables that is missing. */
export const resourceActions = actionsOf<ShownResource>()({
  delete: {
    operation: 'plugin_resources.delete',
    findRefusal: ({ resource }) =>
      resource.deletedAt === null ? null : { message: 'the resource is deleted already' },
  },
  restore: {
    operation: 'plugin_resources.restore',
    findRefusal: ({ restorationRefusal }) => restorationRefusal,
  },
});
