import { askWhetherAllowed, assignAction, revokeAssignment } from './questions.ts';
import { activateRelease, readCeiling, replaceCeiling, stageRelease } from './registry.ts';
import { replacePlugin } from './removal.ts';
import type { Step } from './step.ts';
import {
  changeArchiving,
  changeEnablement,
  changeMembership,
  replaceEnvironment,
  transferAccount,
  transferTenant,
} from './tenants.ts';
import { approveBackground, createResource, deleteResource, restoreResource, revokeBackground } from './things.ts';

/** Every step, as often as it is taken in a hundred. */
const weights: readonly (readonly [weight: number, step: Step])[] = [
  [28, askWhetherAllowed],
  [25, assignAction],
  [4, revokeAssignment],
  [4, changeMembership],
  [3, changeEnablement],
  [2, transferAccount],
  [6, changeArchiving],
  [2, transferTenant],
  [1, replaceEnvironment],
  [1, activateRelease],
  [1, stageRelease],
  [1, replacePlugin],
  [5, replaceCeiling],
  [1, readCeiling],
  [5, createResource],
  [3, deleteResource],
  [4, restoreResource],
  [2, approveBackground],
  [2, revokeBackground],
];

/** A hundred steps, which are taken in any order. */
export const deck: readonly Step[] = weights.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));
