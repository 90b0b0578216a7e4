// A Discord bot: the slash command /ask runs a turn, and the answer comes with the files that the code wrote. It connects to Discord's gateway, so it
// needs no public address.
import { AttachmentBuilder, Client, Events, SlashCommandBuilder, type ChatInputCommandInteraction } from 'discord.js'
import OpenAI from 'openai'

const url = process.env['CELLBLOCK_URL'] ?? 'http://127.0.0.1:8787'
const apiKey = process.env['CELLBLOCK_API_KEY']
const botToken = process.env['DISCORD_TOKEN']
const discordUrl = process.env['DISCORD_API_URL'] ?? 'https://discord.com/api'
const model = process.env['CELLBLOCK_MODEL'] ?? 'demo'
/** Discord's limits for one message: https://docs.discord.com/developers/resources/message */
const MAX_MESSAGE_CHARACTERS = 2_000
const MAX_FILES = 10
const MAX_CHANNELS = 1_000
if (apiKey === undefined || botToken === undefined) {
  console.error('Set CELLBLOCK_API_KEY (printed by `npm start`) and DISCORD_TOKEN (from the page "Bot" of your Discord app).')
  process.exit(1)
}

const cellblock = new OpenAI({ baseURL: `${url}/v1`, apiKey })
/** The last response of each channel, so that a channel is one conversation with its files and variables. */
const channels = new Map<string, string>()

const ASK = new SlashCommandBuilder()
  .setName('ask')
  .setDescription('Ask a question; code runs if it needs any')
  .addStringOption((option) => option.setName('question').setDescription('Your question').setRequired(true))

// Commands need no gateway intent. The text of a model must not notify anybody.
const bot = new Client({ intents: [], rest: { api: discordUrl }, allowedMentions: { parse: [] } })

async function answer(interaction: ChatInputCommandInteraction): Promise<void> {
  // Discord waits three seconds for the first sign of life; the answer itself may come for 15 minutes.
  await interaction.deferReply()
  try {
    const response = await cellblock.responses.create({
      model,
      input: interaction.options.getString('question', true),
      previous_response_id: channels.get(interaction.channelId) ?? null,
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    })
    channels.set(interaction.channelId, response.id)
    if (channels.size > MAX_CHANNELS) channels.delete(channels.keys().next().value ?? '')
    const content = response.output_text.slice(0, MAX_MESSAGE_CHARACTERS) || 'The model gave no text.'
    await interaction.editReply({ content, files: await filesOf(response) })
  } catch (error) {
    console.error(error)
    await interaction.editReply(error instanceof OpenAI.APIError ? error.message : 'The answer could not be made. Ask again.')
  }
}

/** The files that the answer names, as attachments. */
async function filesOf(response: OpenAI.Responses.Response): Promise<AttachmentBuilder[]> {
  const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const cited = parts.flatMap((part) => (part.type === 'output_text' ? part.annotations : []))
  const files = new Map(cited.flatMap((one) => (one.type === 'container_file_citation' ? [[one.file_id, one] as const] : [])))
  return Promise.all(
    [...files.values()].slice(0, MAX_FILES).map(async ({ container_id, file_id, filename }) => {
      const content = await cellblock.containers.files.content.retrieve(file_id, { container_id })
      return new AttachmentBuilder(Buffer.from(await content.arrayBuffer()), { name: filename })
    }),
  )
}

bot.once(Events.ClientReady, ({ application, user }) => {
  void application.commands.set([ASK]).then(() => console.log(`${user.username} answers /ask`))
})
bot.on(Events.InteractionCreate, (interaction) => {
  if (interaction.isChatInputCommand() && interaction.commandName === ASK.name)
    void answer(interaction).catch((error: unknown) => console.error(error))
})
bot.on(Events.Error, (error) => console.error(error.message))
process.once('SIGTERM', () => void bot.destroy().finally(() => process.exit()))
await bot.login(botToken)
