import { answer } from '#api/answer.ts';

export const known = answer;
