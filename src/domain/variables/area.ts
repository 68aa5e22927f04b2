import { variableSeals } from './sealed.ts';

export const sealed = variableSeals;
