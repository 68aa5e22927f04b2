import { name } from '../../domain/identity/name-store.ts';

export const view = name;
