import { actionsOf } from '#api/pipeline/actions.ts';
import type { GrantWithStanding } from '#domain/plugins/assignments/grant-authority-store.ts';
import type { BackgroundDetails } from '#domain/plugins/background/store.ts';
import {
  findRemovalRefusal,
  findRemovedRefusal,
  type InstallationTarget,
} from '#domain/plugins/installations/store.ts';
import { findRevokedRefusal } from '#domain/plugins/model.ts';
import type { Place } from '#domain/plugins/places/place-store.ts';
import { findDeletedRefusal } from '#domain/plugins/resources/resources.ts';
import type { ResourceDetails } from '#domain/plugins/resources/store.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** A resource, and why the registry refuses its restoration; null if it does not. */
interface ShownResource extends Place {
  readonly resource: ResourceDetails;
  readonly restorationRefusal: Refusal | null;
}

/**
 * What a caller may do with a resource of a plugin. A restoration may still fail for other reasons, such as a missing row in the plugin's
 * tables.
 */
export const resourceActions = actionsOf<ShownResource>()({
  delete: {
    operation: 'plugin_resources.delete',
    findRefusal: ({ resource }) => findDeletedRefusal(resource),
  },
  restore: {
    operation: 'plugin_resources.restore',
    findRefusal: ({ restorationRefusal }) => restorationRefusal,
  },
});

/**
 * What a caller may do with an installed plugin. A removal may still fail because of resources, and an activation because its release is
 * not staged.
 */
export const installationActions = actionsOf<InstallationTarget>()({
  stage: { operation: 'plugin_installations.stage_manifest', findRefusal: findChangeRefusal },
  activate: { operation: 'plugin_installations.activate', findRefusal: findChangeRefusal },
  replace_ceiling: { operation: 'plugin_installations.replace_ceiling', findRefusal: findChangeRefusal },
  delete: {
    operation: 'plugin_installations.delete',
    findRefusal: ({ installation }) => findRemovalRefusal(installation),
  },
});

function findChangeRefusal({ installation, place }: InstallationTarget): Refusal | null {
  return findRemovedRefusal(installation) ?? findArchivedRefusal(place);
}

/** What a caller may do with an assignment. */
export const grantActions = actionsOf<Place & { readonly grant: Pick<GrantWithStanding, 'revokedAt'> }>()({
  revoke: {
    operation: 'plugin_action_grants.revoke',
    findRefusal: ({ grant }) => findRevokedRefusal(grant, 'assignment'),
  },
});

/** What a caller may do with a background principal. */
export const backgroundActions = actionsOf<Place & { readonly background: Pick<BackgroundDetails, 'revokedAt'> }>()({
  revoke: {
    operation: 'plugin_background_principals.revoke',
    findRefusal: ({ background }) => findRevokedRefusal(background, 'background principal'),
  },
});
