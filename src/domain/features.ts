import { mergeParts, type RecordOf } from './areas.ts';
import type { Feature } from './shared/features/feature.ts';

type Features = RecordOf<'features'>;

/**
 * The features that the settings can turn off, by their names there. Functions that must always work, such as signing in, are not included.
 */
export const features: Features = mergeParts('features');

export type FeatureName = keyof Features;

/** The names in alphabetical order, as the settings show them. */
export const featureNames = Object.keys(features).sort() as [FeatureName, ...FeatureName[]];

const featureByArea = new Map(
  featureNames.flatMap((name) => features[name].operations.map((area) => [area as string, name] as const)),
);

/** The feature that an operation belongs to; undefined if nothing can turn the operation off. */
export function featureOfOperation(id: string): FeatureName | undefined {
  return featureByArea.get(id) ?? featureByArea.get(id.slice(0, id.indexOf('.')));
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
