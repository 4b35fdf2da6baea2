/** The framework's own commands in groups, in the order of the list: the rest of each is loaded when it is run. */
const groups = {
  'A project': {
    init: 'Starts a new project',
    serve: 'Runs the application and restarts it when a file changes',
    build: 'Builds the application for Node.js',
    start: 'Runs the application in production, in one or more processes',
    rehearse: 'Rehearses a deploy under traffic, and reports what it loses',
  },
  'Inspect it': {
    routes: 'Lists the routes',
    explain: 'Shows the steps that a request goes through',
    access: 'Shows who can reach what, and compares that with a file',
    plugins: 'Shows the tree of plugins and how long each takes',
    doctor: 'Reports mistakes and risks, and what to do about them',
    docs: 'Explains an error or a finding by its code',
    list: 'Lists the commands',
  },
  'Run background work without HTTP': {
    'cron-start': 'Runs the scheduled jobs without HTTP',
    'queue-start': 'Runs the workers of the queues without HTTP',
  },
  'Manage databases and queues': {
    migrate: 'Brings the tables of the databases up to date',
    'queue list': 'Lists the queues and counts their messages',
    'queue show': 'Shows the messages of a queue, or one of them',
    'queue retry': 'Retries failed messages',
    'queue remove': 'Removes messages by id, or all failed messages',
    'queue empty': 'Removes all messages in the given states',
    'queue pause': 'Stops the delivery of messages to all processes',
    'queue resume': 'Resumes the delivery of messages',
  },
  'Generate code': {
    'generate-controller': 'Writes routes, with their schemas and a test',
    'generate-middleware': 'Writes a middleware that adds a member to the request',
    'generate-plugin': 'Writes a plugin, in the application or as a package',
    'generate-cron': 'Writes a scheduled job',
    'generate-queue': 'Writes a queue with a subscriber',
    'generate-mqtt': 'Writes a subscriber to an MQTT topic',
    'generate-command': 'Writes a command for the application',
    'generate-sdk': 'Writes a typed client for the routes',
    'key-generate': 'Generates a key pair or a secret',
    'init-queue': 'Configures the queues',
    'init-mailer': 'Adds a mailer',
    'init-database': 'Adds a database, with a first migration',
    'init-storage': 'Adds file storage',
    'init-auth': 'Adds accounts: sign-up, log-in, refresh, log-out, password reset',
  },
} as const

type Groups = typeof groups
export type OwnName = { [Heading in keyof Groups]: keyof Groups[Heading] }[keyof Groups]

/** The names and descriptions in groups, as those of any commands. */
export const ownGroups = Object.entries(groups).map(([heading, descriptions]) => ({
  heading,
  commands: Object.entries(descriptions).map(([name, description]) => ({ name: name as OwnName, description })),
}))

export const ownCommands = ownGroups.flatMap(({ commands }) => commands)

/** The commands of two words that begin with this one: `queue list` of `queue`. */
export const groupOf = (word: string) => ownCommands.filter(({ name }) => name.startsWith(`${word} `))

/** Whether the framework has a command with this name, or commands that begin with it. */
export const isOwnName = (name: string): boolean =>
  ownCommands.some((own) => own.name === name) || groupOf(name).length > 0
