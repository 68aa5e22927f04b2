import type { Known } from './one.ts';

export const known: Known = 42;
