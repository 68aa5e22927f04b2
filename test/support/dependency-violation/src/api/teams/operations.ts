import { known } from '../undo/operations.ts';

export const answer = known;
