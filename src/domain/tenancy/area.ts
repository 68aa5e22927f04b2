export const errorCodes = {
  same_owner: 'The resource belongs to this owner already.',
  unknown_reference: 'The request names a team or an environment that does not exist.',
} as const;
