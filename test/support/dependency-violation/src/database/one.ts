import { known } from './two.ts';

export type Known = number;

export const alsoKnown = known;
