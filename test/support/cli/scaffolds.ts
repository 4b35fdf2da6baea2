const authFiles = [
  ...['auth.ts', 'auth.test.ts', 'accounts.ts', 'pages.ts'],
  ...['frame', 'forgot-password', 'choose-password', 'ended', 'message'].map((name) => `pages/${name}.html`),
]

/** Every scaffold in every variant, `[argv, files]`: together they are one project. */
export const scaffolds: readonly (readonly [command: string, argv: readonly string[], files: readonly string[]])[] = [
  ['generate-controller', ['users'], ['src/controllers/users.ts', 'src/controllers/users.test.ts']],
  [
    'generate-controller',
    ['OrderItemsController', '--decorators'],
    ['src/controllers/order-items.ts', 'src/controllers/order-items.test.ts'],
  ],
  ['generate-middleware', ['tenant'], ['src/middlewares/tenant.ts', 'src/middlewares/tenant.test.ts']],
  ['generate-middleware', ['apiKey'], ['src/middlewares/api-key.ts', 'src/middlewares/api-key.test.ts']],
  [
    'generate-plugin',
    ['feature-flags'],
    ['index.ts', 'plugin.ts', 'service.ts', 'feature-flags.test.ts'].map((file) => `src/plugins/feature-flags/${file}`),
  ],
  ['generate-cron', ['cleanup'], ['src/crons/cleanup.ts', 'src/crons/cleanup.test.ts']],
  [
    'generate-cron',
    ['weekly_report', '--class', '-p', '*/30 6-8 * * mon', '--timezone', 'Europe/Rome'],
    ['src/crons/weekly-report.ts', 'src/crons/weekly-report.test.ts'],
  ],
  ['generate-queue', ['orders'], ['src/queues/orders.ts', 'src/queues/orders.test.ts']],
  ...(['bullmq', 'pgboss', 'sqs'] as const).map(
    (kind) =>
      [
        'generate-queue',
        [`${kind}-emails`, '-t', kind],
        [`src/queues/${kind}-emails.ts`, `src/queues/${kind}-emails.test.ts`],
      ] as const,
  ),
  ...(
    [
      [['sensors/+/temperature'], 'sensors-any-temperature'],
      [['doors/front', '--class'], 'doors-front'],
      [['$SYS/#'], 'sys-all'],
      [['$SYS/broker/uptime', '--class'], 'sys-broker-uptime'],
      [['$share/workers/jobs'], 'share-workers-jobs'],
      [['#'], 'all'],
      [['küche/licht'], 'kuche-licht'],
      [['2nd floor/+/"it\'s"', '--class'], 'topic-2nd-floor-any-it-s'],
      [['новини/+', '--name', 'news'], 'news'],
      [['new'], 'topic-new'],
    ] as const
  ).map(([argv, name]) => ['generate-mqtt', argv, [`src/mqtt/${name}.ts`, `src/mqtt/${name}.test.ts`]] as const),
  ['generate-command', ['send-report'], ['src/commands/send-report.ts', 'src/commands/send-report.test.ts']],
  ...(['bullmq', 'pgboss', 'sqs', 'memory'] as const).map(
    (kind) =>
      [
        'init-queue',
        ['-t', kind, '--dir', `src/${kind}`],
        [`src/${kind}/config.ts`, `src/${kind}/config.test.ts`],
      ] as const,
  ),
  ...(
    [
      ['handlebars', 'templates/welcome.hbs'],
      ['ejs', 'templates/welcome.ejs'],
      ['edge', 'templates/welcome.edge'],
      ['mustache', 'templates/welcome.mustache'],
      ['custom', 'templates/welcome.tpl'],
      ['none'],
    ] as const
  ).map(
    ([kind, ...template]) =>
      [
        'init-mailer',
        ['-t', kind, '--dir', `src/${kind}`],
        [`src/${kind}/mailer.ts`, `src/${kind}/mailer.test.ts`, ...template.map((file) => `src/${kind}/${file}`)],
      ] as const,
  ),
  ['init-database', ['-t', 'sqlite'], ['src/database.ts', 'src/database.test.ts', '.gitignore']],
  ...(['postgres', 'mysql'] as const).map(
    (kind) =>
      [
        'init-database',
        ['-t', kind, '--dir', `src/${kind}`],
        [`src/${kind}/database.ts`, `src/${kind}/database.test.ts`],
      ] as const,
  ),
  ['init-auth', [], [...authFiles.map((file) => `src/auth/${file}`), 'src/mailer.ts', 'src/mailer.test.ts']],
  ['init-auth', ['-t', 'memory', '--dir', 'src/accounts'], authFiles.map((file) => `src/accounts/${file}`)],
  ['init-storage', ['-t', 'local'], ['src/storage.ts', 'src/storage.test.ts', '.gitignore']],
  ...(['s3', 'azure'] as const).map(
    (kind) =>
      [
        'init-storage',
        ['-t', kind, '--dir', `src/${kind}`],
        [`src/${kind}/storage.ts`, `src/${kind}/storage.test.ts`],
      ] as const,
  ),
]

/** Names that templates, tests or the language use themselves. */
export const awkwardNames =
  'test server router cron mqtt logger payload next log body user database extend option Map process res a'.split(' ')
