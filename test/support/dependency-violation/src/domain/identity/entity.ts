import type { known } from '../runs/entity.ts';

export type Known = typeof known;
