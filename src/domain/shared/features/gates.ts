import { type FeatureName, featureNames, featureOfKind, features } from '#domain/features.ts';
import { FeatureDisabled } from '../errors.ts';

/** The features that are off, with the reason of each. */
export type ClosedFeatures = Readonly<Record<string, string>>;

const unreadable = Object.fromEntries(
  featureNames.map((name) => [name, 'the settings of the installation cannot be read']),
);

/**
 * Reads from the settings which features are off. A feature is off unless the settings turn it on. So all features are off while the
 * settings are missing or damaged; signing in and the settings themselves still work.
 */
export function readClosedFeatures(stored: unknown): ClosedFeatures {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return unreadable;
  const gates = Object.entries(stored).map(([name, gate]) => [name, Object(gate) as Partial<Gate>] as const);
  return Object.fromEntries(
    gates.filter(([, { enabled }]) => enabled !== true).map(([name, gate]) => [name, why(gate)]),
  );
}

interface Gate {
  readonly enabled: boolean;
  readonly reason: string;
}

function why({ reason }: Partial<Gate>): string {
  return typeof reason === 'string' ? reason : 'no reason is given';
}

/** Why a feature is off, in a sentence for those who want to use it; null if it is on. */
export function describeClosed(feature: FeatureName, closed: ClosedFeatures): string | null {
  if (!Object.hasOwn(closed, feature)) return null;
  return `${features[feature].title}: an administrator has turned this off: ${closed[feature]}`;
}

/** The title of the feature that a message of `refuseClosed` names; null if it is not such a message. */
export function findRefusedFeature(message: string, closed: ClosedFeatures): string | null {
  const name = featureNames.find((each) => describeClosed(each, closed) === message);
  return name === undefined ? null : features[name].title;
}

/** Whether a kind of search result belongs to a feature that is off. */
export function isOfClosedFeature(kind: string, closed: ClosedFeatures): boolean {
  const feature = featureOfKind(kind);
  return feature !== undefined && describeClosed(feature, closed) !== null;
}

/** @throws FeatureDisabled if the feature is off */
export function refuseClosed(feature: FeatureName, closed: ClosedFeatures): void {
  const message = describeClosed(feature, closed);
  if (message !== null) throw new FeatureDisabled(message);
}
