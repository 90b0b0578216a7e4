import type { CommandName } from './commands.ts'

const VITEST = 'Files and options of vitest follow --, for example a part of a path, or -t with a part of a title.'

/**
 * What `npm run NAME -- --help` prints for each command whose program has no help. It is printed before anything is installed, built or started.
 */
export const USAGE: Readonly<Partial<Record<CommandName, string>>> = {
  start: `Usage: npm start [-- --data DIR] [--image slim|standard|full] [--runtime gvisor] [--install | --no-install]

Starts the server on this machine and prints its address. The first start installs what is missing and builds the sandbox image.

  --data        keep rows and files in this folder; without it they end with the server
  --image       the default image of new containers; slim is ready first, standard has the most used libraries
  --runtime     gvisor runs sandboxes on gVisor's kernel instead of the host's; another value is the name of a runtime of the engine
  --install     install what is missing without a question, Docker included
  --no-install  never install anything; a missing prerequisite ends the command and is named

PORT, CELLBLOCK_API_KEY and the other settings: docs/configuration.md.
`,
  test: `Usage: npm test [-- --with-account] | npm test -- FILE …

Without arguments: static checks and every suite of docs/development.md, about nine minutes on two cores.

  --with-account  also the suite of the emulated AWS account, as continuous integration runs it
  FILE            only these tests; only what their suites need is installed. ${VITEST}
`,
  'test:unit': `Usage: npm run test:unit [-- FILE …]

Unit tests without Docker. ${VITEST}
`,
  'test:browser': `Usage: npm run test:browser [-- FILE …]

The page in Chromium, with the whole corpus of hostile outputs. ${VITEST}
`,
  'test:aws': `Usage: npm run test:aws [-- --long | FILE …]

Deploys into an emulated AWS account and uses the service there.

  --long  also calls that take minutes in real time
  FILE    only these tests. ${VITEST}
`,
  'test:gvisor': `Usage: npm run test:gvisor [-- --long | FILE …]

Sandboxes that are suspended with their processes. Needs Linux, root and Go: it builds gVisor once, in minutes, and adds it to the
runtimes of this machine's engine.

  --long  suspends a container a hundred times
  FILE    only these tests. ${VITEST}
`,
  'test:clients': `Usage: npm run test:clients [-- --only TEXT] [--write] [--e2b DIR | --n8n DIR | --dify DIR]

Unmodified third-party clients against a local server; prints a pass table.

  --only   clients whose names contain the text; "Open WebUI" (0.8 GB) runs only with this option
  --write  also writes the table into docs/clients.md
  --e2b    runs the suites of E2B and of others for its wire instead, from clones of the repositories E2B,
           code-interpreter and computesdk in this folder; --only then is a part of a suite's name
  --n8n    runs the end-to-end specs of n8n's sandbox service instead, from a clone of n8n-sandbox-service in this folder
  --dify   runs the tools of Dify's plugin for E2B instead, from a clone of dify-official-plugins in this folder
`,
  'test:security': `Usage: npm run test:security [-- --only PART] [--name TEXT] [--threshold ID] [--json]

Hostile programs, attacks between tenants, removed protections and limits, in real sandboxes. All parts take about three hours.

  --only       programs, cross-tenant, neighbours, messages, control, mutants or limits
  --name       with --only programs or mutants: those whose names contain the text; can be repeated
  --threshold  with --only limits: one threshold, for example C-23
  --json       prints only the summary, as JSON
`,
  'test:programs': `Usage: npm run test:programs [-- --variant slim|standard|full] [--only TEXT] [--sample N] [--width N] [--shared N] [--json]

Runs realistic programs, written as language models write them, in an image and prints a pass table. With SANDBOX_DOCKER_RUNTIME=gvisor it runs them on gVisor.

  --variant  the image; default slim
  --only     programs whose category or title contains the text
  --sample   so many of them, the same ones in each run
  --width    programs at a time; default 2
  --shared   programs per container; default 1. More is faster, and a program that fails runs again in a separate container
  --json     prints the results as JSON
`,
  'test:fuzz': `Usage: npm run test:fuzz [-- --examples N] [--phases LIST] [--seed N] [--only OPERATION]

Generated requests to every route, compared with the OpenAPI document. At least 50,000 requests with the defaults.

  --examples  per operation and phase; default 450
  --phases    some of examples, coverage, fuzzing, stateful; default all
  --seed      repeats a run; default 1
  --only      one operationId of the OpenAPI document
`,
  'test:noise': `Usage: npm run test:noise [-- --seconds N] [--short] [--only NAME] [--storage embedded|aws] [--write]

One hostile tenant takes every parser, form of connection and pool in turn, on the embedded storage and on an emulated AWS account, while another
tenant measures its requests. Prints a table; exits with 1 when a threshold is missed.

  --seconds  length of each measurement
  --short    takes the routes in turn, instead of each route as a separate form
  --only     forms whose name contains this
  --storage  only this storage
  --write    writes the table into docs/tenancy.md, with all forms of both storages
`,
  'test:load': `Usage: npm run test:load [-- --tenants N] [--minutes N]

Many tenants run code while one of them floods the server. Compares the others with the same time without the flood.

  --tenants  at least 2; default 50
  --minutes  of each of the two phases; default 10
`,
  'test:chaos': `Usage: npm run test:chaos [-- --storage embedded|aws] [--only NAMES] [--scale N] [--mutants] [--engine] [--fail-fast]
                            [--keep FOLDER] [--html FILE] [--json]

Kills workers and servers at every storage call and checks the history of rows and jobs.

  --storage    the adapters under test; default embedded
  --only       scenarios, separated by commas; "mutants" for none but the mutants
  --scale      share of the kills and races, above 0 to 1; default 1
  --mutants    also removes each protection once: the suite must notice
  --engine     also restarts this machine's container engine
  --fail-fast  ends at the first violation
  --keep       writes the histories into this folder
  --html       writes a report with charts to this file
  --json       prints the summary as JSON
`,
  'test:soak': `Usage: npm run test:soak [-- --jobs N | --hours N] [--lanes N] [--json]

Thousands of jobs on one server; compares its memory, files and rows before and after.

  --jobs   default 10000
  --hours  runs for this time instead
  --lanes  jobs at a time; default 4
  --json   prints the figures as JSON
`,
  image: `Usage: npm run image [-- --variant slim|standard|full] [--requirements FILE] [--apt "NAME …"] [--wheels FOLDER]
                         [--wheelhouse FOLDER] [--nltk FOLDER] [--name NAME] [--sbom FILE] [--background]
       npm run image -- --server [--sbom FILE]

Builds a sandbox image if its inputs have changed, and prints its tag. docs/images.md describes images with your own packages.

  --server        builds the image of the server (docs/compose.md) instead
  --variant       the image, or the base of your own; default slim
  --requirements  Python packages to add, as pip writes them
  --apt           Debian packages to add
  --wheels        folder with wheels that no index has
  --wheelhouse    folder with wheels that pip in the sandbox can install from
  --nltk          folder with data sets of NLTK, as \`python -m nltk.downloader -d FOLDER NAME\` fills it
  --name          name of your own image; default own
  --sbom          writes the bill of materials to this file
  --background    builds at low priority
`,
  deploy: `Usage: npm run deploy

Deploys the service that cdk.json describes into the AWS account of your credentials, or updates it. Takes no options: docs/deploy.md describes
the settings.
`,
  destroy: `Usage: npm run destroy [-- --remove-data STAGE]

Removes the service from the AWS account. Table, objects, key and model keys stay, and are billed as storage.

  --remove-data  also deletes them, permanently; needs the name of the stage in cdk.json
`,
  restore: `Usage: npm run restore -- --at 2026-11-20T12:00:00Z | --latest [--name TABLE]

Makes a table with the rows of an earlier time from the backups of the deployment. docs/deploy.md has the whole procedure.

  --at      the time, with its zone
  --latest  the latest time that can be restored
  --name    name of the new table
`,
  'docs:build': `Usage: npm run docs:build [-- FOLDER]

Builds the documentation as a static site, by default where npm start finds it.
`,
  'generate:client': `Usage: npm run generate:client

Writes the types of the client (packages/client/src/api.ts) from the OpenAPI document. Run it after a change of a route or a schema.
`,
  'build:package': `Usage: npm run build:package -- cli|client|cdk

Builds a package of packages/ into its folder dist. \`npm pack ./packages/cli\` calls it.
`,
  'lock:npm': `Usage: npm run lock:npm

Run it after npm install: adds to every package-lock.json the packages of other platforms and their integrity.
`,
  'lock:python': `Usage: npm run lock:python

Locks the Python packages of the sandbox images with their hashes.
`,
  check: `Usage: npm run lint, npm run typecheck

Checks without tests: types, lint, format, unused code, prose.
`,
  'lint:prose': `Usage: npm run lint:prose [-- PATH …]

Spelling and forbidden terms in documents, comments, messages and titles of tests.

  PATH  files or folders, relative to the repository; default all
`,
}
