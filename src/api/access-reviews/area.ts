import type { Area } from '#api/web/area-declaration.ts';
import * as reviews from './operations.ts';

export const area: Area = {
  operations: [reviews],
};
