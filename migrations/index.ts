import { Initial } from './20261121_initial.ts';

/** Every migration, oldest first. Forward only: a released one is never changed. */
export const migrations = [{ name: '20261121_initial', class: Initial }];
