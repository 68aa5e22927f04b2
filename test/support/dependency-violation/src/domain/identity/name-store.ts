export const name = 'identity';
