import type { OwnCommandBody } from './run/own-command.ts'

/** A command of the framework itself: enough to list it; the rest is loaded when it is run. */
export interface OwnCommand {
  readonly name: string
  readonly description: string
  load(): Promise<OwnCommandBody>
}

/** The framework's own commands, in the order of the list. */
export const ownCommands: readonly OwnCommand[] = [
  {
    name: 'list',
    description: 'Lists the commands',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'serve',
    description: 'Runs the application and restarts it when a file changes',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'start',
    description: 'Runs the application in production, in one or several processes',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'build',
    description: 'Builds the application for Node.js',
    load: async () => (await import('./commands/build.ts')).build,
  },
  {
    name: 'routes',
    description: 'Lists the routes',
    load: async () => (await import('./commands/routes.ts')).routes,
  },
  {
    name: 'explain',
    description: 'Shows the steps of a request',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    name: 'plugins',
    description: 'Shows the tree of plugins, with the time that each takes',
    load: async () => (await import('./commands/plugins.ts')).plugins,
  },
  {
    name: 'doctor',
    description: 'Says what is wrong or unwise, and what to do about it',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'cron-start',
    description: 'Runs the scheduled jobs, without HTTP',
    load: async () => (await import('./commands/cron-start.ts')).cronStart,
  },
  {
    name: 'queue-start',
    description: 'Runs the workers of the queues, without HTTP',
    load: async () => (await import('./commands/queue-start.ts')).queueStart,
  },
  {
    name: 'init',
    description: 'Starts a new project',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'key-generate',
    description: 'Generates a key pair or a secret',
    load: async () => (await import('./commands/key-generate.ts')).keyGenerate,
  },
  {
    name: 'generate-controller',
    description: 'Writes routes, with their schemas and a test',
    load: async () => (await import('./commands/generate-controller.ts')).generateController,
  },
  {
    name: 'generate-middleware',
    description: 'Writes a middleware that adds to the request',
    load: async () => (await import('./commands/generate-middleware.ts')).generateMiddleware,
  },
  {
    name: 'generate-plugin',
    description: 'Writes a plugin, of the application or as a package',
    load: async () => (await import('./commands/generate-plugin.ts')).generatePlugin,
  },
  {
    name: 'generate-cron',
    description: 'Writes a scheduled job',
    load: async () => (await import('./commands/generate-cron.ts')).generateCron,
  },
  {
    name: 'generate-queue',
    description: 'Writes a queue with a subscriber',
    load: async () => (await import('./commands/generate-queue.ts')).generateQueue,
  },
  {
    name: 'generate-mqtt',
    description: 'Writes a subscriber of an MQTT topic',
    load: async () => (await import('./commands/generate-mqtt.ts')).generateMqtt,
  },
  {
    name: 'generate-command',
    description: 'Writes a command of the application',
    load: async () => (await import('./commands/generate-command.ts')).generateCommand,
  },
  {
    name: 'init-queue',
    description: 'Writes the configuration of the queues',
    load: async () => (await import('./commands/init-queue.ts')).initQueue,
  },
  {
    name: 'init-mailer',
    description: 'Writes the mailer',
    load: async () => (await import('./commands/init-mailer.ts')).initMailer,
  },
  {
    name: 'init-storage',
    description: 'Writes the storage',
    load: async () => (await import('./commands/init-storage.ts')).initStorage,
  },
  {
    name: 'generate-sdk',
    description: 'Writes a typed client for the routes',
    load: async () => (await import('./commands/generate-sdk.ts')).generateSdk,
  },
]
