/** How templates are executed, in words. */
export const executorWords = { opentofu: 'OpenTofu', command: 'Commands' } as const;
