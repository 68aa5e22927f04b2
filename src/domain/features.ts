import { assembliesFeature } from './assemblies/feature.ts';
import { connectionsFeature } from './connections/feature.ts';
import { driftFeature } from './drift/feature.ts';
import { notificationsFeature } from './notifications/feature.ts';
import { pluginsFeature } from './plugins/feature.ts';
import { schedulesFeature } from './schedules/feature.ts';
import type { Feature } from './shared/features/feature.ts';
import { selectiveUndoFeature } from './undo/feature.ts';
import { variableSetsFeature } from './variable-sets/feature.ts';
import { webhooksFeature } from './webhooks/feature.ts';

/** Everything that the settings can turn off, by the name that it has there. What must always work, such as signing in, is not here. */
export const features = {
  assemblies: assembliesFeature,
  connections: connectionsFeature,
  drift: driftFeature,
  notifications: notificationsFeature,
  plugins: pluginsFeature,
  schedules: schedulesFeature,
  selective_undo: selectiveUndoFeature,
  variable_sets: variableSetsFeature,
  webhooks: webhooksFeature,
} as const satisfies Record<string, Feature>;

export type FeatureName = keyof typeof features;

export const featureNames = Object.keys(features) as [FeatureName, ...FeatureName[]];

const featureByArea = new Map(
  featureNames.flatMap((name) => features[name].operations.map((area) => [area as string, name] as const)),
);

/** The feature that an operation belongs to; undefined if nothing can turn the operation off. */
export function featureOfOperation(id: string): FeatureName | undefined {
  return featureByArea.get(id.slice(0, id.indexOf('.')));
}

const featureByKind = new Map(
  featureNames.flatMap((name) => {
    const { searched = [] }: Feature = features[name];
    return searched.map((kind) => [kind, name] as const);
  }),
);

/** The feature that can turn off a kind of search result; undefined if none can. */
export function featureOfKind(kind: string): FeatureName | undefined {
  return featureByKind.get(kind);
}
