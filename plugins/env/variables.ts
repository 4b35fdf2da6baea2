/**
 * The types of the variables in `services.env`; an application adds its own by declaration merging.
 *
 * @example
 * import type { EnvOf, EnvSchema } from 'framework'
 *
 * export const variables = (schema: EnvSchema) => ({ PORT: schema.number({ default: 3000 }) })
 * declare module 'framework' {
 *   interface EnvVariables extends EnvOf<typeof variables> {}
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: open for merging
export interface EnvVariables {}
