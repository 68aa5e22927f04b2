import { known } from './operations.ts';

export const area = { known };
