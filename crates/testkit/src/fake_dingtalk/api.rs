//! The API: tokens, the robot's messages, cards, and where to connect.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::line::Line;
use crate::fake_chat::{Asked, Platform, Reply};

pub const CLIENT_ID: &str = "ding1";
pub const CLIENT_SECRET: &str = "client-secret";
pub const TEMPLATE: &str = "0a1b2c3d.schema";

/// A card that stands somewhere.
#[derive(Clone, Debug)]
pub struct Card {
    pub id: String,
    /// `dtv1.card//IM_GROUP.cid1`
    pub space: String,
    pub variables: Map<String, Value>,
    pub updates: usize,
}

/// A message of the robot.
#[derive(Clone, Debug)]
pub struct Said {
    /// `group cid1`, `people ["u1"]`, or `session x`.
    pub to: String,
    pub key: String,
    pub param: Value,
}

pub(super) struct Api {
    line: Arc<Line>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tokens: Vec<String>,
    given: usize,
    cards: Vec<Card>,
    said: Vec<Said>,
}

impl Api {
    pub(super) fn new(line: Arc<Line>) -> Api {
        Api { line, state: Mutex::default() }
    }

    pub(super) fn cards(&self) -> Vec<Card> {
        self.state().cards.clone()
    }

    pub(super) fn said(&self) -> Vec<Said> {
        self.state().said.clone()
    }

    pub(super) fn delete(&self, id: &str) {
        self.state().cards.retain(|card| card.id != id);
    }

    pub(super) fn forget_tokens(&self) {
        self.state().tokens.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Platform for Api {
    fn answer(&self, asked: &Asked) -> Reply {
        let body = asked.json();
        match (asked.method.as_str(), asked.path.as_str()) {
            ("POST", "/v1.0/oauth2/accessToken") => return self.token(&body),
            ("POST", "/v1.0/gateway/connections/open") => return self.open(&body),
            ("POST", "/robot/sendBySession") => return self.by_session(asked, &body),
            _ => {}
        }
        let token = asked.header("x-acs-dingtalk-access-token").unwrap_or_default();
        if !self.state().tokens.iter().any(|known| known == token) {
            return refused(401, "InvalidAuthentication", "the token is not good");
        }
        match (asked.method.as_str(), asked.path.as_str()) {
            ("POST", "/v1.0/robot/groupMessages/send") => match body["openConversationId"].as_str()
            {
                Some(chat) => self.say(format!("group {chat}"), &body),
                None => refused(400, "invalidParameter.openConversationId", "missing"),
            },
            ("POST", "/v1.0/robot/oToMessages/batchSend") => match body["userIds"].as_array() {
                Some(users) if (1..=20).contains(&users.len()) => {
                    let unknown: Vec<&Value> = users
                        .iter()
                        .filter(|user| !user.as_str().is_some_and(|user| user.starts_with('u')))
                        .collect();
                    if !unknown.is_empty() {
                        let body = json!({
                            "processQueryKey": "", "invalidStaffIdList": unknown,
                            "flowControlledStaffIdList": [],
                        });
                        return Reply::new(200, body);
                    }
                    self.say(format!("people {}", body["userIds"]), &body)
                }
                _ => refused(400, "invalidParameter.userIds", "one to twenty"),
            },
            ("POST", "/v1.0/card/instances/createAndDeliver") => self.deliver(&body),
            ("PUT", "/v1.0/card/instances") => self.update(&body),
            _ => refused(404, "InvalidAction.NotFound", "no such page"),
        }
    }
}

impl Api {
    fn token(&self, body: &Value) -> Reply {
        if body["appKey"] != CLIENT_ID || body["appSecret"] != CLIENT_SECRET {
            return refused(400, "invalidClientIdOrSecret", "the app is not known");
        }
        let mut state = self.state();
        state.given += 1;
        let token = format!("token-{}", state.given);
        state.tokens.push(token.clone());
        Reply::new(200, json!({"accessToken": token, "expireIn": 7200}))
    }

    fn open(&self, body: &Value) -> Reply {
        if body["clientId"] != CLIENT_ID || body["clientSecret"] != CLIENT_SECRET {
            return refused(401, "authFailed", "the app is not known");
        }
        let topics: Vec<&str> = body["subscriptions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|subscription| subscription["topic"].as_str())
            .collect();
        if topics.is_empty() {
            return refused(400, "invalidParameter.subscriptions", "nothing is wanted");
        }
        let (endpoint, ticket) = self.line.invite();
        Reply::new(200, json!({"endpoint": endpoint, "ticket": ticket}))
    }

    fn say(&self, to: String, body: &Value) -> Reply {
        let param = body["msgParam"].as_str().unwrap_or_default();
        let known = matches!(body["msgKey"].as_str(), Some("sampleText" | "sampleMarkdown"));
        let read: Option<Value> = serde_json::from_str(param).ok();
        let (Some(read), true) = (read, known && param.len() <= 15_000) else {
            return refused(400, "invalidParameter.msgParam", "it is JSON in a string");
        };
        if body["robotCode"] != CLIENT_ID {
            return refused(400, "invalidParameter.robotCode", "no such robot");
        }
        let mut state = self.state();
        let key = body["msgKey"].as_str().unwrap_or_default().to_owned();
        state.said.push(Said { to, key, param: read });
        let number = state.said.len();
        let body = json!({
            "processQueryKey": format!("query-{number}"), "invalidStaffIdList": [],
            "flowControlledStaffIdList": [],
        });
        Reply::new(200, body)
    }

    /// Over the address of a conversation, which is the older API: no status, and no cards.
    fn by_session(&self, asked: &Asked, body: &Value) -> Reply {
        let told = |code: i64, why: &str| Reply::new(200, json!({"errcode": code, "errmsg": why}));
        let Some(session) = asked.query.as_deref().and_then(|query| query.strip_prefix("session="))
        else {
            return told(300_001, "token is not exist");
        };
        let key = body["msgtype"].as_str().unwrap_or_default().to_owned();
        let text = match key.as_str() {
            "text" => &body["text"]["content"],
            "markdown" => &body["markdown"]["text"],
            _ => return told(400_101, "unsupported msgtype"),
        };
        if text.as_str().is_none_or(str::is_empty) {
            return told(40_035, "content is empty");
        }
        let said = Said { to: format!("session {session}"), key, param: body.clone() };
        self.state().said.push(said);
        told(0, "ok")
    }

    fn deliver(&self, body: &Value) -> Reply {
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        if !text("cardTemplateId").ends_with(".schema") {
            return refused(400, "param.templateNotExist", "no such template");
        }
        let variables = match variables(&body["cardData"]) {
            Ok(variables) => variables,
            Err(why) => return refused(400, "param.error", &why),
        };
        let (id, space) = (text("outTrackId"), text("openSpaceId"));
        let fits = match space.strip_prefix("dtv1.card//") {
            Some(space) if space.starts_with("IM_GROUP.") => {
                body["imGroupOpenDeliverModel"]["robotCode"] == CLIENT_ID
            }
            Some(space) if space.starts_with("IM_ROBOT.") => {
                // Its own SDK leaves the robot out.
                let robot = body["imRobotOpenDeliverModel"]["robotCode"].as_str();
                robot.is_none_or(|robot| robot == CLIENT_ID)
                    && body["imRobotOpenDeliverModel"]["spaceType"] == "IM_ROBOT"
            }
            _ => false,
        };
        if id.is_empty() || !fits {
            let result = json!({"success": false, "spaceId": space, "errorMsg": "no such space"});
            return Reply::new(
                200,
                json!({"success": true, "result": {"deliverResults": [result]}}),
            );
        }
        let mut state = self.state();
        // The same id again does nothing.
        if !state.cards.iter().any(|card| card.id == id) {
            state.cards.push(Card { id: id.clone(), space: space.clone(), variables, updates: 0 });
        }
        let result = json!({"success": true, "spaceId": space, "errorMsg": ""});
        let result = json!({"outTrackId": id, "deliverResults": [result]});
        Reply::new(200, json!({"success": true, "result": result}))
    }

    fn update(&self, body: &Value) -> Reply {
        let variables = match variables(&body["cardData"]) {
            Ok(variables) => variables,
            Err(why) => return refused(400, "param.error", &why),
        };
        let mut state = self.state();
        let card = state.cards.iter_mut().find(|card| body["outTrackId"] == card.id.as_str());
        let Some(card) = card else { return refused(400, "param.cardNotExist", "no such card") };
        if body["cardUpdateOptions"]["updateCardDataByKey"] != true {
            card.variables.clear();
        }
        card.variables.extend(variables);
        card.updates += 1;
        Reply::new(200, json!({"success": true, "result": true}))
    }
}

/// All are texts, and none is longer than is shown.
fn variables(data: &Value) -> Result<Map<String, Value>, String> {
    let map = data["cardParamMap"].as_object().ok_or_else(|| "no cardParamMap".to_owned())?;
    for (key, value) in map {
        let text = value.as_str().ok_or_else(|| format!("{key} is no text"))?;
        if key.len() > 100 || text.len() > 1_024 {
            return Err(format!("{key} is longer than is shown"));
        }
    }
    Ok(map.clone())
}

fn refused(status: u16, code: &str, why: &str) -> Reply {
    Reply::new(status, json!({"code": code, "message": why, "requestid": "r"}))
}
