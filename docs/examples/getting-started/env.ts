import { createEnvSchema } from 'framework'

export const env = createEnvSchema((schema) => ({
  PORT: schema.number({ default: 3000 }),
  GREETING: schema.string({ default: 'hello' }),
}))
