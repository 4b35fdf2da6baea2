import type { OwnName } from './registry.ts'
import type { OwnCommandBody } from './run/own-command.ts'

/** Loads a command of the framework. The list of commands does not import this file: some commands need the list. */
export const load: Readonly<Record<OwnName, () => Promise<OwnCommandBody>>> = {
  list: async () => (await import('./commands/list.ts')).list,
  serve: async () => (await import('./commands/serve.ts')).serve,
  start: async () => (await import('./commands/start.ts')).start,
  build: async () => (await import('./commands/build.ts')).build,
  routes: async () => (await import('./commands/routes.ts')).routes,
  explain: async () => (await import('./commands/explain.ts')).explain,
  plugins: async () => (await import('./commands/plugins.ts')).plugins,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  'cron-start': async () => (await import('./commands/cron-start.ts')).cronStart,
  'queue-start': async () => (await import('./commands/queue-start.ts')).queueStart,
  init: async () => (await import('./commands/init.ts')).init,
  'key-generate': async () => (await import('./commands/key-generate.ts')).keyGenerate,
  'generate-controller': async () => (await import('./commands/generate.ts')).generateController,
  'generate-middleware': async () => (await import('./commands/generate.ts')).generateMiddleware,
  'generate-plugin': async () => (await import('./commands/generate-plugin.ts')).generatePlugin,
  'generate-cron': async () => (await import('./commands/generate.ts')).generateCron,
  'generate-queue': async () => (await import('./commands/generate.ts')).generateQueue,
  'generate-mqtt': async () => (await import('./commands/generate.ts')).generateMqtt,
  'generate-command': async () => (await import('./commands/generate.ts')).generateCommand,
  'init-queue': async () => (await import('./commands/init-plugin.ts')).initQueue,
  'init-mailer': async () => (await import('./commands/init-plugin.ts')).initMailer,
  'init-storage': async () => (await import('./commands/init-plugin.ts')).initStorage,
  'generate-sdk': async () => (await import('./commands/generate-sdk.ts')).generateSdk,
}
