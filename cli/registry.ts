/** The framework's own commands, in the order of the list: the rest of each is loaded when it is run. */
const descriptions = {
  list: 'Lists the commands',
  serve: 'Runs the application and restarts it when a file changes',
  start: 'Runs the application in production, in one or several processes',
  build: 'Builds the application for Node.js',
  routes: 'Lists the routes',
  explain: 'Shows the steps of a request',
  plugins: 'Shows the tree of plugins, with the time that each takes',
  doctor: 'Says what is wrong or unwise, and what to do about it',
  'cron-start': 'Runs the scheduled jobs, without HTTP',
  'queue-start': 'Runs the workers of the queues, without HTTP',
  init: 'Starts a new project',
  'key-generate': 'Generates a key pair or a secret',
  'generate-controller': 'Writes routes, with their schemas and a test',
  'generate-middleware': 'Writes a middleware that adds to the request',
  'generate-plugin': 'Writes a plugin, of the application or as a package',
  'generate-cron': 'Writes a scheduled job',
  'generate-queue': 'Writes a queue with a subscriber',
  'generate-mqtt': 'Writes a subscriber of an MQTT topic',
  'generate-command': 'Writes a command of the application',
  'init-queue': 'Writes the configuration of the queues',
  'init-mailer': 'Writes the mailer',
  'init-storage': 'Writes the storage',
  'generate-sdk': 'Writes a typed client for the routes',
} as const

export type OwnName = keyof typeof descriptions

/** The names and descriptions, as those of any command. */
export const ownCommands = Object.entries(descriptions).map(([name, description]) => ({
  name: name as OwnName,
  description,
}))
