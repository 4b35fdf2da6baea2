import { createEnvSchema } from 'framework'

/** The variables that the environment, or a file `.env`, may set. */
export const env = createEnvSchema((schema) => ({
  SESSION_SECRET: schema.string({ optional: true, secret: true }),
  /** The Redis of sessions, cached responses and rate limits; without it, they are in memory. */
  REDIS_URL: schema.string({ optional: true, secret: true }),
  /**
   * The database of books and loans: `sqlite:library.sqlite` or `postgres://user:password@host/database`; without it, it is in memory. In Postgres,
   * several instances also agree there on who runs a job, and the queues are there if `QUEUE_ENGINE` is `pgboss`.
   */
  DATABASE_URL: schema.string({ optional: true, secret: true }),
  /** The MQTT broker of the returns box; without it, there is one in memory. */
  MQTT_HOST: schema.string({ optional: true }),
  /** The folder of the covers; without it, they are only in memory. */
  COVERS: schema.string({ optional: true }),
  /** `smtp://user:password@host`; without it, emails stay in memory. */
  SMTP_URL: schema.string({ optional: true, secret: true }),
}))
